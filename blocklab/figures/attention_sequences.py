"""Drawings for the second sitting of unit 03: one token after the other, and a second sequence."""

import torch

from blocklab.figures.attention_grid import (
    ACROSS,
    KEY,
    QUERY,
    SEEN,
    SOURCE,
    TARGET,
    VALUE,
    column_names,
    grid,
    numbers,
    row_names,
)
from blocklab.figures.attention_masks import prefix_mask
from blocklab.figures.colours import GREY
from blocklab.figures.diagram import Drawing, arrow, box, drawing, text
from blocklab.reference.attention import causal_mask
from blocklab.text import Text, both


def cache_steps(first: int = 3, steps: int = 3) -> Drawing:
    """Decoding with a cache: each step brings one query, and one key and value to those kept."""
    parts = []
    for i in range(steps):
        t, y = first + i, 34 + 62 * i
        parts += [
            text(16, y, Text("token {t} comes in", "token {t} 들어옴").fill(t=t), anchor="start"),
            box(196, y, 50, 34, f"q_{{{t}}}", colour=QUERY, shade=0.2, size=15),
            text(246, y, Text("reads", "읽음"), size=13),
        ]
        for j in range(1, t + 1):
            new = j == t
            colour, shade = (KEY, 0.25) if new else (GREY, 0.12)
            words = f"k_{{{j}}} v_{{{j}}}"
            parts.append(box(238 + 72 * j, y, 64, 34, words, colour=colour, shade=shade, size=15))
    legend = Text(
        "grey: kept from earlier steps, not computed again",
        "회색: 앞 단계에서 계산해 둔 것. 다시 계산하지 않는다",
    )
    last = first + steps - 1
    parts.append(text(278, 34 + 62 * steps - 8, legend, anchor="start", size=13))
    said = Text(
        "In every step one query reads all keys and values so far; only the last pair is new.",
        "단계마다 query 하나가 지금까지의 key와 value를 모두 읽고, 새로 계산하는 것은 마지막 "
        "한 쌍뿐이다.",
    )
    return drawing(290 + 72 * last, 44 + 62 * steps, *parts, alt=said)


def after_the_past(new: int = 2, past: int = 3) -> Drawing:
    """The mask of some new tokens behind a cache: causal_mask(new, past)."""
    mask = causal_mask(new, past).int()
    ordinals = [str(j + 1) for j in range(new + past)]
    return drawing(
        470,
        150,
        column_names(120, 46, ordinals),
        row_names(120, 46, ordinals[past:]),
        grid(120, 46, numbers(mask), colour=QUERY, shades=mask * SEEN),
        text(120 + 13 * past, 124, Text("in the cache", "cache에 있음"), size=13),
        text(126 + 26 * past + 13 * new, 124, Text("new", "새것"), size=13),
        alt=Text("{new} rows and {all} columns.", "{new}행 {all}열.").fill(new=new, all=new + past),
    )


def second_sequence() -> Drawing:
    """Cross-attention: queries from the decoder's stream, keys and values from the encoder's."""
    source = Text("encoder's last states Z: (S, d)", "encoder의 마지막 state Z: (S, d)")
    stream = Text("decoder's stream X: (T, d)", "decoder의 stream X: (T, d)")
    parts = [
        box(140, 50, 240, 46, source, colour=SOURCE, shade=0.14),
        box(140, 190, 240, 46, stream, colour=TARGET, shade=0.14),
    ]
    for y, start, matrix, letter, colour in (
        (26, 50, "W_{K}", "K   (S × d_{head})", KEY),
        (84, 50, "W_{V}", "V   (S × d_{head})", VALUE),
        (190, 190, "W_{Q}", "Q   (T × d_{head})", QUERY),
    ):
        parts += [
            arrow((260, start), (300, y)),
            box(326, y, 50, 36, matrix),
            arrow((352, y), (382, y)),
            box(448, y, 130, 36, letter, colour=colour, shade=0.16),
            arrow((514, y), (560, 108 + 0.14 * (y - 108))),
        ]
    parts += [
        box(634, 108, 148, 64, Text("T × S weights", "T × S weight"), colour=ACROSS, shade=0.14),
        arrow((708, 108), (738, 108)),
        text(744, 108, "(T, d_{head})", anchor="start"),
    ]
    said = Text(
        "Queries come from the decoder's stream; keys and values from the encoder's states.",
        "query는 decoder의 stream에서, key와 value는 encoder의 state에서 온다.",
    )
    return drawing(820, 226, *parts, alt=said)


def pieces(S: int = 4, T: int = 3) -> Drawing:
    """The three masks of an encoder-decoder, and the one prefix mask that holds them all."""
    three = Text("encoder and decoder: three masks", "encoder와 decoder: mask 셋")
    one = Text("one decoder: one prefix mask", "decoder 하나: prefix mask 하나")
    said = Text(
        "The target rows and source columns of a prefix mask are all 1, like the mask of "
        "cross-attention.",
        "prefix mask에서 target 행과 source 열이 만나는 칸은 cross-attention처럼 모두 1이다.",
    )
    return drawing(
        720,
        268,
        text(170, 18, three, bold=True),
        _piece(60, 60, S, S, SOURCE, both("source → source")),
        _piece(60, 190, T, S, ACROSS, both("target → source (cross)")),
        _piece(224, 190, T, T, TARGET, both("target → target"), causal=True),
        text(520, 18, one, bold=True),
        _whole(430, 60, S, T),
        alt=said,
    )


def _piece(
    x: float, y: float, rows: int, columns: int, colour: str, name: Text, causal: bool = False
) -> str:
    mask = causal_mask(rows).int() if causal else torch.ones(rows, columns, dtype=torch.int)
    return text(x + 13 * columns, y - 12, name, size=13) + grid(
        x, y, numbers(mask), colour=colour, shades=mask * SEEN
    )


def _whole(x: float, y: float, S: int, T: int) -> str:
    mask = prefix_mask(S + T, S).int()
    names = [*(f"s_{{{i + 1}}}" for i in range(S)), *(f"t_{{{i + 1}}}" for i in range(T))]
    blocks = (
        (slice(0, S), slice(0, S), SOURCE),
        (slice(0, S), slice(S, None), GREY),
        (slice(S, None), slice(0, S), ACROSS),
        (slice(S, None), slice(S, None), TARGET),
    )
    parts = [column_names(x, y, names), row_names(x, y, names)]
    for rows, columns, colour in blocks:
        part = mask[rows, columns]
        at = (x + 26 * columns.start, y + 26 * rows.start)
        parts.append(grid(*at, numbers(part), colour=colour, shades=part * SEEN))
    return "".join(parts)


def translation() -> Drawing:
    """The word-for-word alignment that one would like to see, and the rows in which it stands."""
    source, target = ("나는", "밥을", "먹었다"), ("<s>", "I", "ate", "rice")
    wished = torch.tensor([[1.0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
    says = ("→ I", "→ ate", "→ rice", "→ .")
    parts = [
        column_names(150, 50, source, 62),
        row_names(150, 50, target, 32),
        grid(150, 50, [[""] * 3] * 4, colour=ACROSS, shades=0.6 * wished, cell=(62, 32)),
    ]
    parts += [text(350, 66 + 32 * i, word, anchor="start") for i, word in enumerate(says)]
    parts += [
        text(92, 16, Text("row: token read", "행: 읽은 token"), size=13),
        text(400, 16, Text("what the row is about to say", "그 행이 이제 말할 token"), size=13),
    ]
    said = Text(
        "The row of 'I' is about to say 'ate', so it looks at 먹었다, not at 나는.",
        "'I'의 행은 이제 'ate'를 말할 차례이므로 나는이 아니라 먹었다를 본다.",
    )
    return drawing(520, 190, *parts, alt=said)
