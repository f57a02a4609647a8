"""Drawings for unit 03 of what attention does: who looks at whom, and the numbers by hand."""

from collections.abc import Sequence

import torch
from torch import Tensor

from blocklab.figures.attention_grid import KEY, QUERY, VALUE, grid, numbers, row_names
from blocklab.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from blocklab.figures.diagram import INK, Drawing, arrow, box, drawing, text
from blocklab.reference.attention import causal_mask
from blocklab.text import Text, both

SEOUL = (
    Text("서울은 (Seoul)", "서울은"),
    Text("한국의 (of Korea)", "한국의"),
    Text("수도 (capital)", "수도"),
    Text("이다 (is)", "이다"),
)
ASKING = 2
IN_AN_ENCODER = Text(
    "Encoder (BERT): every token may look at every token",
    "Encoder(BERT): 모든 token이 모든 token을 볼 수 있다",
)
IN_A_DECODER = Text(
    "Decoder (GPT, Llama): what comes later does not exist yet",
    "Decoder(GPT, Llama): 뒤에 올 token은 아직 없다",
)
RICE = (Text("나는 (I)", "나는"), Text("밥을 (rice)", "밥을"), Text("먹었다 (ate)", "먹었다"))


def looking(scores: Sequence[float]) -> Drawing:
    """The token 수도 looks at its sentence, in an encoder and in a decoder.

    scores: what its query gets with the key of each of the four tokens. A weight is their softmax,
    in the decoder over the first three.
    """
    given = torch.tensor(scores, dtype=torch.float32)
    everyone = given.softmax(0)
    past = given.masked_fill(torch.arange(4) > ASKING, float("-inf")).softmax(0)
    return drawing(
        700,
        424,
        text(350, 18, IN_AN_ENCODER, bold=True),
        _sentence(146, scores, everyone, future=False),
        text(350, 238, IN_A_DECODER, bold=True),
        _sentence(366, scores, past, future=True),
        alt=Text(
            "What the third token takes from each token. Encoder: {a}. Decoder: {b}.",
            "세 번째 token이 각 token에서 가져오는 몫. Encoder: {a}. Decoder: {b}.",
        ).fill(a=_said(everyone), b=_said(past)),
    )


def _said(weights: Tensor) -> str:
    return ", ".join(f"{weight:.2f}" for weight in weights.tolist())


def _sentence(y: float, scores: Sequence[float], weights: Tensor, future: bool) -> str:
    """The words in boxes, and from the asking one an arc to each, as thick as its weight.

    future: whether words after the asking one are out of sight.
    """
    at = [92 + 172 * i for i in range(len(SEOUL))]
    parts = []
    for i, weight in enumerate(weights.tolist()):
        hidden = future and i > ASKING
        colour = QUERY if i == ASKING else GREY if hidden else KEY
        parts.append(box(at[i], y, 150, 34, SEOUL[i], colour=colour, shade=0.14, dashed=hidden))
        parts.append(text(at[i], y + 32, _verdict(scores[i], weight, hidden), size=13))
        if not hidden:
            parts.append(_arc(at[ASKING], at[i], y - 17, weight))
    return "".join(parts)


def _verdict(score: float, weight: float, hidden: bool) -> Text:
    if hidden:
        return Text("not there yet: weight 0", "아직 없음: weight 0")
    return both(f"score {score:g} → weight {weight:.2f}".replace("-", "−"))


def _arc(start: float, end: float, y: float, weight: float) -> str:
    """A bow over the words, or a loop where a token looks at itself."""
    side = (end > start) - (end < start)
    left, right = (start + 36 * side, end) if side else (start - 12, start + 12)
    lift = y - 38 - 0.2 * abs(end - start)
    return (
        f'<path d="M{left:g} {y:g}C{left:g} {lift:g} {right:g} {lift:g} {right:g} {y:g}" '
        f'fill="none" stroke="{KEY}" stroke-width="{1 + 11 * weight:.1f}" stroke-opacity="0.75"/>'
    )


def three_vectors() -> Drawing:
    """One token's vector, and what three matrices make of it."""
    rows = (
        ("W_{Q}", "q", "query", QUERY, Text("what am I looking for?", "나는 무엇을 찾는가?")),
        ("W_{K}", "k", "key", KEY, Text("what can I be found by?", "나는 무엇으로 찾아지는가?")),
        (
            "W_{V}",
            "v",
            "value",
            VALUE,
            Text("what do I hand over when found?", "찾아지면 무엇을 건네는가?"),
        ),
    )
    parts = [box(56, 110, 84, 150, both("x_{t}"), shade=0.06, size=20)]
    for i, (matrix, letter, name, colour, says) in enumerate(rows):
        y = 40 + 70 * i
        parts += [
            arrow((98, 110 + 24 * (i - 1)), (170, y)),
            box(206, y, 72, 44, matrix, size=16),
            arrow((242, y), (286, y)),
            box(356, y, 140, 44, f"{letter}_{{t}}   {name}", colour=colour, shade=0.16, size=16),
            text(440, y, says, anchor="start", size=15),
        ]
    said = Text(
        "The vector of a token, multiplied by three matrices, gives its query, its key and "
        "its value.",
        "token의 벡터 하나에 행렬 셋을 곱하면 query, key, value가 나온다.",
    )
    return drawing(690, 220, *parts, alt=said)


def by_hand(x: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor) -> Drawing:
    """Causal attention in two lines of small matrices, from the tokens to what each takes away.

    x (3, d_model); weights (d_model, d), as on paper: q = x w_q.
    """
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    raw = q @ k.T
    scores = raw / w_q.shape[1] ** 0.5
    masked = scores.masked_fill(~causal_mask(len(x)), float("-inf"))
    weights = masked.softmax(-1)
    first = (
        (both("x"), x, INK),
        (both("q = x W_{Q}"), q, QUERY),
        (both("k = x W_{K}"), k, KEY),
        (both("v = x W_{V}"), v, VALUE),
    )
    then = (
        (both("q · k"), raw, INK),
        (both(f"÷ √{w_q.shape[1]}"), scores, INK),
        (both("mask"), masked, INK),
        (both("softmax"), weights, PURPLE),
        (Text("weights × v", "weight × v"), weights @ v, VALUE),
    )
    return drawing(
        790,
        290,
        _line_of_matrices(112, 40, first, gap=32, arrows=False),
        _line_of_matrices(112, 184, then, gap=36, arrows=True),
        alt=Text(
            "Queries, keys and values of three tokens, their scores with and without the mask, the "
            "weights, and the weighted sums.",
            "세 token의 query, key, value, mask를 씌우기 전과 후의 score, weight, 그리고 가중합.",
        ),
    )


def _line_of_matrices(
    x: float, y: float, named: Sequence[tuple[Text, Tensor, str]], gap: float, arrows: bool
) -> str:
    """Matrices side by side, each under its name, with the words at the left."""
    wide, high = 36, 28
    parts = [row_names(x, y, RICE, high)]
    for i, (name, values, colour) in enumerate(named):
        width = wide * values.shape[1]
        if i and arrows:
            middle = y + high * len(values) / 2
            parts.append(arrow((x - gap + 4, middle), (x - 7, middle)))
        parts.append(text(x + width / 2, y - 16, name, bold=True))
        parts.append(grid(x, y, numbers(values), colour=colour, cell=(wide, high)))
        x += width + gap
    return "".join(parts)


def viewpoints() -> Drawing:
    """Several heads read one input at the same time; their results are joined."""
    says = (
        Text("Head 1: grammar, say", "Head 1: 예컨대 문법 관계"),
        Text("Head 2: meaning, say", "Head 2: 예컨대 의미 관계"),
        Text("Head 3: position, say", "Head 3: 예컨대 위치 관계"),
        both("…"),
    )
    parts = [box(78, 116, 128, 62, Text("the tokens' vectors", "token들의 벡터"), shade=0.06)]
    for i, (head, colour) in enumerate(zip(says, (BLUE, ORANGE, GREEN, GREY), strict=True)):
        y = 30 + 57 * i
        parts += [
            arrow((142, 116), (178, y)),
            box(268, y, 178, 40, head, colour=colour, shade=0.16),
            arrow((357, y), (396, 116 + 9 * (i - 1.5))),
        ]
    parts += [
        box(454, 116, 114, 62, Text("side by side", "나란히 잇기"), shade=0.06),
        arrow((511, 116), (541, 116)),
        box(572, 116, 60, 44, "W_{O}", size=16),
        arrow((602, 116), (632, 116)),
        box(698, 116, 130, 62, Text("an update each", "token마다 update"), shade=0.06),
    ]
    said = Text(
        "The same input goes to several heads; their results are joined and multiplied by "
        "an output matrix.",
        "같은 입력이 여러 head로 가고, 결과를 이어 붙여 출력 행렬을 곱한다.",
    )
    return drawing(772, 236, *parts, alt=said)
