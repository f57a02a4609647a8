"""The whole model as one picture that opens: every part is a box with an explanation inside.

It is made of <details> elements and nothing else, so it works by mouse and by keyboard, without a
kernel, and in a notebook that is not trusted yet.
"""

from dataclasses import dataclass
from html import escape

from blocklab import catalogue
from blocklab.figures.colours import DELTA, STREAM
from blocklab.text import Text, both

READ_ON = Text("→ unit {number}", "→ {number}단원")
STATE = both("T × d_model")
OPEN_ME = Text(
    "Click a part to look inside (or Tab to it and press Enter).",
    "각 부분을 누르면 안이 열립니다(Tab으로 옮겨 가 Enter를 눌러도 됩니다).",
)


@dataclass(frozen=True)
class Part:
    """One box: its name, what it is for, the unit that treats it, its colour, what is inside."""

    name: Text
    says: Text
    unit: str = ""
    colour: str = ""
    inside: tuple["Part | Text", ...] = ()


ADD = Text("+ added to the stream", "+ stream에 더하기")

BLOCK = (
    Part(
        both("Norm"),
        Text(
            "Brings each token's vector to one size before a sublayer reads it.",
            "sublayer가 읽기 전에 각 token의 벡터를 일정한 크기로 맞춥니다.",
        ),
        "02_rms_norm",
    ),
    Part(
        both("Attention"),
        Text(
            "Collects information from other tokens: the only part in which tokens meet.",
            "다른 token에서 정보를 모읍니다. token끼리 만나는 곳은 여기뿐입니다.",
        ),
        "03_causal_mask",
        DELTA,
    ),
    Part(
        ADD,
        Text(
            "What attention computed is added to the vector that came in.",
            "Attention이 계산한 값을 들어온 벡터에 더합니다.",
        ),
        "01_residual_add",
        STREAM,
    ),
    Part(
        both("Norm"),
        Text(
            "A second norm, with learned weights of its own.",
            "두 번째 norm입니다. 학습된 weight도 따로 갖습니다.",
        ),
        "02_rms_norm",
    ),
    Part(
        both("FFN = MLP"),
        Text(
            "Transforms each token's vector by itself: out to a wider space, through a nonlinear "
            "function, and back. FFN, feed-forward network and MLP are names for this one part.",
            "token마다 따로 벡터를 변환합니다. 더 넓은 공간으로 펼치고, 비선형 함수를 거쳐, "
            "원래 폭으로 되돌립니다. FFN, feed-forward network, MLP는 모두 이 부분의 이름입니다.",
        ),
        "04_ffn_expansion",
        DELTA,
    ),
    Part(
        ADD,
        Text(
            "What the FFN computed is added as well. The shape is the same as on the way in.",
            "FFN이 계산한 값도 더합니다. shape은 들어올 때와 같습니다.",
        ),
        "01_residual_add",
        STREAM,
    ),
)

MODEL: tuple[Part | Text, ...] = (
    Text("T tokens", "token T개"),
    Part(
        both("Embedding"),
        Text(
            "A table with one learned row of d_model numbers for each token of the vocabulary. "
            "GPT-2 adds a second row, which depends on the position.",
            "어휘의 token마다 학습된 수 d_model개를 한 행으로 담은 표입니다. GPT-2는 위치에 따라 "
            "정해지는 행을 하나 더 더합니다.",
        ),
        "05_block_stacking",
    ),
    STATE,
    Part(
        both("Block × N"),
        Text(
            "A block does two jobs: it gathers from other tokens, then transforms each token. N "
            "blocks follow one another: 12 in GPT-2 small, 32 in Llama-3 8B, 80 in Llama-3 70B. "
            "Each has weights of its own.",
            "block은 두 가지 일을 합니다. 다른 token에서 정보를 모으고, 이어서 token마다 "
            "변환합니다. block N개가 차례로 이어지는데, GPT-2 small은 12개, Llama-3 8B는 32개, "
            "70B는 80개입니다. block마다 weight가 따로 있습니다.",
        ),
        "05_block_stacking",
        STREAM,
        BLOCK,
    ),
    STATE,
    Part(
        both("Final Norm"),
        Text(
            "One more norm, after the last block only.",
            "마지막 block 뒤에만 한 번 더 놓이는 norm입니다.",
        ),
        "02_rms_norm",
    ),
    STATE,
    Part(
        both("LM head"),
        Text(
            "A linear map from d_model numbers to one score for each token of the vocabulary. The "
            "scores at position t are the prediction of token t + 1.",
            "수 d_model개를 어휘의 token마다 하나씩인 점수로 바꾸는 선형 변환입니다. 위치 t의 "
            "점수는 t + 1번째 token을 예측합니다.",
        ),
        "05_block_stacking",
    ),
    both("T × vocab_size"),
)


class ModelMap:
    """The picture, in the language in use when it is shown."""

    def __repr__(self) -> str:
        return " → ".join(str(p.name if isinstance(p, Part) else p) for p in MODEL)

    def _repr_html_(self) -> str:
        note = f'<p style="margin:0 0 6px"><small>{escape(str(OPEN_ME))}</small></p>'
        return f'<div style="max-width:34em">{note}{_column(MODEL)}</div>'


def model_map() -> ModelMap:
    """The whole decoder, from tokens to scores, as boxes that open."""
    return ModelMap()


def _column(parts: tuple[Part | Text, ...]) -> str:
    """Parts from top to bottom with arrows between; a Text is what the arrow carries."""
    shown = []
    for before, part in zip((None, *parts), parts, strict=False):
        if isinstance(part, Text):
            shown.append(_arrow(str(part)))
        else:
            shown.append((_arrow() if isinstance(before, Part) else "") + _box(part))
    return "".join(shown)


def _arrow(words: str = "") -> str:
    label = f" <code>{escape(words)}</code>" if words else ""
    return f'<div style="text-align:center;line-height:1.7">↓{label}</div>'


def _box(part: Part) -> str:
    name, says = escape(str(part.name)), escape(str(part.says))
    within = f'<div style="margin:8px 16px 4px">{_column(part.inside)}</div>' if part.inside else ""
    return (
        f'<details style="border:2px solid {part.colour};border-radius:8px;padding:5px 12px">'
        f'<summary style="cursor:pointer;text-align:center"><b>{name}</b></summary>'
        f'<p style="margin:6px 0">{says} {_unit(part.unit)}</p>{within}</details>'
    )


def _unit(unit: str) -> str:
    """Where to read on: a link to the lecture of the same language, once the unit exists."""
    label = str(READ_ON.fill(number=unit[:2]))
    exists = any(exercise.unit == unit for exercise in catalogue.exercises().values())
    return f'<a href="{unit}.ipynb">{label}</a>' if exists else label
