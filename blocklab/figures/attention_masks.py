"""Drawings for unit 03 of who may see whom: masks, what reaches a state, what a state predicts."""

import torch
from torch import Tensor

from blocklab.figures.attention_grid import SEEN, Cells, column_names, grid, numbers, row_names
from blocklab.figures.colours import BLUE, GREEN, GREY, ORANGE
from blocklab.figures.diagram import INK, Drawing, arrow, box, drawing, line, text
from blocklab.reference.attention import causal_mask
from blocklab.text import Text, both

N_LAYERS, T, CHOSEN = 3, 5, 2  # of the picture of what reaches a state; tokens from 0


def prefix_mask(T: int, prefix: int) -> Tensor:
    """Causal, and the first `prefix` tokens see one another as well: (T, T), bool."""
    return causal_mask(T) | (torch.arange(T) < prefix)


def four_masks() -> Drawing:
    """Bidirectional, causal, prefix and cross, as grids of 1 and 0."""
    shown = (
        ("bidirectional", both("BERT"), torch.ones(5, 5), BLUE),
        ("causal", both("GPT, Llama"), causal_mask(5), BLUE),
        (
            "prefix",
            Text("the first 2 are given", "처음 2개는 주어진 token"),
            prefix_mask(5, 2),
            BLUE,
        ),
        (
            "cross",
            Text("3 tokens read 5 others", "token 3개가 다른 5개를 읽음"),
            torch.ones(3, 5),
            ORANGE,
        ),
    )
    parts = []
    for i, (name, note, mask, colour) in enumerate(shown):
        x, ordinals = 40 + 186 * i, ["1", "2", "3", "4", "5"]
        parts += [
            text(x + 65, 16, name, bold=True, size=15),
            text(x + 65, 37, note, size=13),
            column_names(x, 76, ordinals),
            row_names(x, 76, ordinals[: len(mask)]),
            _mask(x, 76, mask, colour),
        ]
    legend = Text(
        "row: who looks (query) · column: at whom (key) · 1: may look",
        "행: 보는 쪽(query) · 열: 보이는 쪽(key) · 1: 볼 수 있음",
    )
    said = Text(
        "Four grids. Bidirectional: all 1. Causal: 1 on and below the diagonal. Prefix: "
        "causal, with columns 1 and 2 all 1. Cross: 3 rows and 5 columns, all 1.",
        "격자 넷. Bidirectional: 모두 1. Causal: 대각선과 그 아래가 1. Prefix: causal에 더해 "
        "1열과 2열이 모두 1. Cross: 3행 5열이 모두 1.",
    )
    return drawing(744, 246, *parts, text(372, 230, legend, size=13), alt=said)


def _mask(x: float, y: float, mask: Tensor, colour: str) -> str:
    seen = mask.int()
    return grid(x, y, numbers(seen), colour=colour, shades=seen * SEEN, tips=_tips(mask))


def _tips(mask: Tensor) -> Cells:
    may = Text("query {i} may look at key {j}", "query {i} → key {j}: 볼 수 있음")
    may_not = Text("query {i} may not look at key {j}", "query {i} → key {j}: 볼 수 없음")
    return [
        [(may if seen else may_not).fill(i=i + 1, j=j + 1) for j, seen in enumerate(row)]
        for i, row in enumerate(mask.tolist())
    ]


def additive_form(scores: Tensor) -> Drawing:
    """Scores (3, 3), plus a causal mask of 0 and −∞, and the weights that come out."""
    hidden = ~causal_mask(3)
    mask = torch.zeros(3, 3).masked_fill(hidden, float("-inf"))
    shown = (
        ("", both("scores"), scores, INK),
        ("+", both("mask"), mask, BLUE),
        ("=", Text("sum", "합"), scores + mask, INK),
        ("→", both("softmax"), (scores + mask).softmax(-1), GREEN),
    )
    parts = []
    for i, (sign, name, values, colour) in enumerate(shown):
        x = 26 + 166 * i
        parts += [
            text(x - 27, 83, sign, size=20),
            text(x + 57, 20, name, bold=True),
            grid(x, 38, numbers(values), colour=colour, cell=(38, 30), shades=0.08 + 0.3 * ~hidden),
        ]
    said = Text(
        "Where the mask is minus infinity, the weight is 0.",
        "mask가 −∞인 자리는 weight가 0이 된다.",
    )
    return drawing(660, 136, *parts, alt=said)


def reach() -> Drawing:
    """Three causal layers over five tokens, and every path that ends in the last state of token 3.

    Layer 0 is the embedding.
    """
    paths = sorted(
        _path(layer, start, end)
        for layer in range(N_LAYERS)
        for end in range(T)
        for start in range(end + 1)
    )
    states = [_state(layer, t) for layer in range(N_LAYERS + 1) for t in range(T)]
    names = [text(_place(0, t)[0], 300, f"x_{{{t + 1}}}", size=16) for t in range(T)]
    layers = ["embedding", *(f"layer {i + 1}" for i in range(N_LAYERS))]
    names += [
        text(84, _place(i, 0)[1], name, anchor="end", size=13) for i, name in enumerate(layers)
    ]
    said = Text(
        "What reaches the state of token 3 after three causal layers: tokens 1 to 3.",
        "causal layer 3개를 지난 token 3의 state에 닿는 것은 token 1부터 3까지다.",
    )
    return drawing(570, 322, *(path for _, path in paths), *states, *names, alt=said)


def _place(layer: int, t: int) -> tuple[float, float]:
    return 150 + 90 * t, 30 + (N_LAYERS - layer) * 230 / N_LAYERS


def _reaches(layer: int, t: int) -> bool:
    """Whether this state has a part in the last state of the chosen token."""
    return t == CHOSEN or (t < CHOSEN and layer < N_LAYERS)


def _path(layer: int, start: int, end: int) -> tuple[bool, str]:
    """A line up to the next layer, and whether it leads on to the chosen state."""
    strong = _reaches(layer + 1, end)
    colour, width = (ORANGE, 1.6) if strong else (GREY, 0.6)
    return strong, line(_place(layer, start), _place(layer + 1, end), colour=colour, width=width)


def _state(layer: int, t: int) -> str:
    x, y = _place(layer, t)
    colour, shade = (ORANGE, 0.9) if _reaches(layer, t) else (GREY, 0.25)
    return (
        f'<circle cx="{x:g}" cy="{y:g}" r="9" fill="{colour}" fill-opacity="{shade}" '
        f'stroke="{colour}" stroke-width="1.5"/>'
    )


def next_tokens() -> Drawing:
    """A sentence through a decoder once: every state predicts the token after its own."""
    sentence = (
        "<s>",
        Text("나는 (I)", "나는"),
        Text("밥을 (rice)", "밥을"),
        Text("먹었다 (ate)", "먹었다"),
    )
    once = Text("decoder, causal mask: one pass", "decoder, causal mask: 한 번의 계산")
    parts = [box(330, 128, 470, 40, once, shade=0.06)]
    for t in range(3):
        x = 172 + 158 * t
        parts += [
            box(x, 200, 126, 34, sentence[t], colour=BLUE, shade=0.14),
            arrow((x, 183), (x, 150)),
            arrow((x, 108), (x, 74)),
            text(x + 26, 92, f"h_{{{t + 1}}}", size=15),
            box(x, 56, 126, 34, sentence[t + 1], colour=ORANGE, shade=0.14),
            text(x, 20, f"loss_{{{t + 1}}}", size=15),
        ]
    parts += [
        text(86, 200, Text("reads", "입력"), anchor="end"),
        text(86, 56, Text("is to say", "맞힐 token"), anchor="end"),
    ]
    said = Text(
        "Inputs: start, 나는, 밥을. Targets: 나는, 밥을, 먹었다. Three losses.",
        "입력: 시작, 나는, 밥을. 맞힐 token: 나는, 밥을, 먹었다. loss 세 개.",
    )
    return drawing(580, 226, *parts, alt=said)
