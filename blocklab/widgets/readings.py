"""What a diagram computes as it is drawn, right or wrong: equations, numbers, and one sentence."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from blocklab.text import Text

Vector = list[float]

X0: Vector = [1.0, 2.0, -1.0, 0.0]
STAND_INS = Text(
    "Simple stand-ins, so that the numbers can be followed: Attention(v) = 0.4 · (v with every "
    "component moved one place down), FFN(v) = ½ ReLU(v), Norm = RMSNorm with gain 1.",
    "수를 따라가기 쉽도록 단순한 것으로 대신했습니다. Attention(v) = 0.4 · (성분을 한 칸씩 아래로 "
    "민 v), FFN(v) = ½ ReLU(v), Norm은 gain이 1인 RMSNorm입니다.",
)
NOTHING = Text(
    "Nothing stands here yet that computes anything.", "아직 계산할 것이 놓이지 않았습니다."
)
KEPT = Text(
    "x₀ is still in the sum: the last state minus x₀ is {written}, which is all that was written.",
    "x₀이 합 안에 그대로 있습니다. 마지막 state에서 x₀을 빼면 {written}, 곧 쓰인 것 전부입니다.",
)
SCALED = Text(
    "x₀ goes on, but not as it was: a norm on the stream itself rescales it together with what "
    "was written.",
    "x₀이 이어지지만 그대로는 아닙니다. stream 위에 놓인 norm이 쓰인 것과 함께 크기를 바꿉니다.",
)
LOST = Text(
    "x₀ is lost at place {place}: from there on only {left} goes on, and nothing downstream can "
    "get x₀ back.",
    "{place}번 칸에서 x₀을 잃습니다. 거기서부터는 {left}만 남고, 뒤에서는 아무도 x₀을 되찾을 수 "
    "없습니다.",
)
TWICE = Text(
    "At place {place} the stream is added to itself: no sublayer has computed anything in between.",
    "{place}번 칸에서 stream이 자기 자신에 더해집니다. 그 사이에 아무 sublayer도 계산한 것이 "
    "없습니다.",
)
NO_MASK = Text(
    "Without a mask the attention lets a token read the tokens after it.",
    "mask가 없으므로 attention에서 token이 자기 뒤의 token까지 읽습니다.",
)


class Reading(NamedTuple):
    """What was read off a diagram.

    lines: one equation a state, with its value; says: what it means; notes: more to say.
    skips: for every addition, the place where the stream it adds to was last written, and its own;
        the place before the first is -1.
    """

    lines: Sequence[str] = ()
    says: Text = NOTHING
    notes: Sequence[Text] = ()
    skips: Sequence[tuple[int, int]] = ()


class Value(NamedTuple):
    """An expression, and what it is worth for the example."""

    formula: str
    vector: Vector


def _attention(v: Vector) -> Vector:
    return [0.4 * x for x in v[-1:] + v[:-1]]


def _ffn(v: Vector) -> Vector:
    return [max(0.0, x) / 2 for x in v]


def _norm(v: Vector) -> Vector:
    rms = math.sqrt(sum(x * x for x in v) / len(v))
    return [x / rms for x in v] if rms else v


_PARTS: dict[str, tuple[str, Callable[[Vector], Vector]]] = {
    "norm": ("Norm", _norm),
    "attention": ("Attention", _attention),
    "ffn": ("FFN", _ffn),
}


class Stream:
    """A block read along its row of places: the stream, and the branch that has left it."""

    def __init__(self, norm_on_stream: bool) -> None:
        self.norm_on_stream = norm_on_stream
        self.stream = self.branch = Value("x₀", X0)
        self.states, self.since = 0, -1
        self.lines, self.skips = [f"x₀ = {_numbers(X0)}"], []
        self.says: Text | None = None
        self.notes = [STAND_INS]

    @property
    def open(self) -> bool:
        """Whether a branch has computed something that is not yet back on the stream."""
        return self.branch is not self.stream

    def compute(self, part: str) -> None:
        name, function = _PARTS[part]
        self.branch = Value(f"{name}({self.branch.formula})", function(self.branch.vector))

    def add(self, place: int) -> None:
        if not self.open:
            self.says = self.says or TWICE.fill(place=place + 1)
        total = [a + b for a, b in zip(self.stream.vector, self.branch.vector, strict=True)]
        self.skips.append((self.since, place))
        self._write(Value(f"{self.stream.formula} + {self.branch.formula}", total), place)

    def replace(self, place: int) -> None:
        """What the branch computed, if it did, goes on alone."""
        if not self.open:
            return
        self.says = self.says or LOST.fill(place=place + 1, left=self.branch.formula)
        self._write(self.branch, place)

    def norm_stream(self, place: int) -> None:
        """A norm that stands on the stream itself, right after an addition."""
        self.says = self.says or SCALED
        formula, name = self._undo_last()
        self._write(Value(f"Norm({formula})", _norm(self.stream.vector)), place, name)

    def _undo_last(self) -> tuple[str, int]:
        """Take back the last line, whose right-hand side the norm goes round."""
        if not self.states:
            return self.stream.formula, 1
        return self.lines.pop().split(" = ")[1], self.states

    def _write(self, value: Value, place: int, state: int | None = None) -> None:
        self.states = state or self.states + 1
        name = f"x{_small(self.states)}"
        self.lines.append(f"{name} = {value.formula} = {_numbers(value.vector)}")
        self.stream = self.branch = Value(name, value.vector)
        self.since = place

    def step(self, word: str, place: int, before: str) -> None:
        match word:
            case "add" | "add_attention" | "add_ffn":
                self.add(place)
            case "replace" | "replace_attention":
                self.replace(place)
            case "norm" if self.norm_on_stream and before.startswith("add"):
                self.norm_stream(place)
            case "norm_after_add":
                self.norm_stream(place)
            case "norm_attention" | "norm_ffn":
                self.compute("norm")
                self.compute(word.removeprefix("norm_"))
            case "causal_attention" | "full_attention":
                if word == "full_attention":
                    self.notes = [NO_MASK, STAND_INS]
                self.compute("attention")
            case "norm" | "attention" | "ffn":
                self.compute(word)
            case "x0" | "x1" | "x2" | "repeat" | "final_norm" | "lm_head":
                self.replace(place)  # a state, or what reads one: only the stream gets there
                self.since = place

    def read(self) -> Reading:
        written = [a - b for a, b in zip(self.stream.vector, X0, strict=True)]
        kept = KEPT.fill(written=_numbers(written)) if self.states else NOTHING
        return Reading(self.lines, self.says or kept, self.notes, self.skips)


def read_block(words: Sequence[str], *, norm_on_stream: bool = False) -> Reading:
    """Read a row of nodes from its first place to the first empty one, or to the end.

    norm_on_stream: a norm right after an addition stands on the stream, as in Post-Norm; else it
    begins the next branch. Words that compute nothing, and unknown ones, pass the stream on.
    """
    stream, filled = Stream(norm_on_stream), [*words, "?"]
    filled = filled[: filled.index("?")]
    for place, word in enumerate(filled):
        stream.step(word, place, filled[place - 1] if place else "")
    if len(filled) == len(words):
        stream.replace(len(filled) - 1)
    return stream.read()


def _numbers(vector: Vector) -> str:
    return f"[{', '.join(f'{x:.2f}'.removesuffix('.00') for x in vector)}]".replace("-", "−")


def _small(n: int) -> str:
    return str(n).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


FITS = Text(
    "{model}: {d} → {hidden} → {out}. W_in is {hidden} × {d}, W_out is {out} × {hidden}: "
    "{count:,} weights. The result is as wide as the stream and can be added to it.",
    "{model}: {d} → {hidden} → {out}. W_in은 {hidden} × {d}, W_out은 {out} × {hidden}로 weight는 "
    "{count:,}개입니다. 결과의 폭이 stream과 같아서 더할 수 있습니다.",
)
FITS_NOT = Text(
    "{model}: {d} → {hidden} → {out}. The stream is {d} wide, what comes back is {out} wide: the "
    "two cannot be added.",
    "{model}: {d} → {hidden} → {out}. stream의 폭은 {d}인데 돌아온 것의 폭은 {out}입니다. 둘을 "
    "더할 수 없습니다.",
)


def read_widths(words: Sequence[str], models: Sequence[Text]) -> Reading:
    """Two FFNs by their widths (in, hidden, out), as far as their three places are filled."""
    return _by_model(words, models, _read_ffn)


def _read_ffn(words: Sequence[str], model: Text) -> Text | None:
    if not all(word.isdigit() for word in words):
        return None
    d, hidden, out = map(int, words)
    says = FITS if d == out else FITS_NOT
    return says.fill(model=model, d=d, hidden=hidden, out=out, count=hidden * (d + out))


SHARED = Text(
    "{model}: {queries} query heads read {kv} KV heads, {group} of them each. Heads × d_head = "
    "{width:,}. A token leaves {cache:,} numbers in the KV cache of each layer.",
    "{model}: query head {queries}개가 KV head {kv}개를 읽으므로 KV head 하나를 {group}개가 함께 "
    "씁니다. head 수 × d_head = {width:,}. token 하나가 layer마다 KV cache에 수 {cache:,}개를 "
    "남깁니다.",
)
SHARED_NOT = Text(
    "{model}: {queries} query heads cannot share {kv} KV heads evenly.",
    "{model}: query head {queries}개가 KV head {kv}개를 고르게 나누어 쓸 수 없습니다.",
)


def read_heads(words: Sequence[str], models: Sequence[Text]) -> Reading:
    """Two attention layers by their heads: query heads, KV heads, d_head."""
    return _by_model(words, models, _read_attention)


def _read_attention(words: Sequence[str], model: Text) -> Text | None:
    if not all(word.isdigit() for word in words):
        return None
    queries, kv, d_head = map(int, words)
    if kv == 0 or queries % kv:
        return SHARED_NOT.fill(model=model, queries=queries, kv=kv)
    return SHARED.fill(
        model=model, queries=queries, kv=kv, group=queries // kv, width=queries * d_head,
        cache=2 * kv * d_head,
    )  # fmt: skip


def _by_model(
    words: Sequence[str],
    models: Sequence[Text],
    read: Callable[[Sequence[str], Text], Text | None],
) -> Reading:
    """What is read off each model's three places, as far as they are filled."""
    said = [read(words[3 * n : 3 * n + 3], model) for n, model in enumerate(models)]
    lines = [text for text in said if text]
    return Reading((), _joined(lines)) if lines else Reading()


def _joined(texts: Sequence[Text]) -> Text:
    return Text(" ".join(t.en for t in texts), " ".join(t.ko for t in texts))
