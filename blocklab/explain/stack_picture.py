"""The picture of a pile of blocks: a tower to scale, and bars for parameters and memory."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from blocklab.config import BlockConfig
from blocklab.figures.colours import BLUE, GREEN, GREY, ORANGE, PURPLE
from blocklab.figures.diagram import INK, Drawing, drawing, line, text
from blocklab.reference.block import count_parameters
from blocklab.text import Text, both

PIECES = {
    "embedding": (both("embedding"), BLUE),
    "attention": (both("attention"), ORANGE),
    "ffn": (both("FFN"), GREEN),
    "norms": (both("norm"), GREY),
    "lm_head": (both("LM head"), PURPLE),
}
WIDE, TALL = 112, 330  # of the tower, where it is largest
MIDDLE, TOP = 62, 58  # its axis, and where it begins
NAMES, LEFT, LONGEST, RIGHT = 146, 228, 92, 480  # of the bars


class Numbers(NamedTuple):
    """What a model costs: parameters by piece and in all; bytes of weights and of KV caches.

    cache_of_all: of a cache in which every query head has a KV head of its own.
    """

    pieces: dict[str, int]
    parameters: int
    weights: int
    cache: int
    cache_of_all: int


def picture(name: str, shape: BlockConfig, plain: BlockConfig, cost: Numbers, T: int) -> Drawing:
    """The model `plain`, called `name`, in another shape, with T tokens in its cache."""
    return drawing(
        RIGHT,
        TOP + TALL + 8,
        text(MIDDLE, 16, name, bold=True),
        text(MIDDLE, 37, _blocks(shape), size=13),
        _tower(shape, cost, plain),
        *_shares(cost),
        *_memory(cost, T),
        alt=_said(cost),
    )


def _blocks(shape: BlockConfig) -> Text:
    return Text("{n} blocks × {d}", "block {n}개 × {d}").fill(
        n=shape.n_layers, d=f"{shape.d_model:,}"
    )


def _tower(shape: BlockConfig, cost: Numbers, plain: BlockConfig) -> str:
    """The model from top to bottom: as wide as its stream, and every area its parameters.

    A dashed frame is as large as the model whose shape was changed.
    """
    wider = shape.d_model / plain.d_model
    taller = cost.parameters / count_parameters(plain) / wider
    zoom_x, zoom_y = WIDE / max(1, wider), TALL / max(1, taller)
    tall = {name: zoom_y * taller * n / cost.parameters for name, n in cost.pieces.items()}
    areas = _spans(tall, shape.n_layers)
    drawn = (_areas(zoom_x * wider, spans, PIECES[piece][1]) for piece, spans in areas.items())
    return "".join([*drawn, _frame(zoom_x, zoom_y)])


def _spans(tall: Mapping[str, float], n_layers: int) -> dict[str, list[tuple[float, float]]]:
    """Where the areas of each piece begin, and how tall each is; norms are too thin to be seen."""
    attention, ffn = (tall[name] / n_layers for name in ("attention", "ffn"))
    starts = [TOP + tall["embedding"] + (attention + ffn) * n for n in range(n_layers + 1)]
    gap = min(1.5, 0.3 * attention)  # shows where a block ends
    return {
        "embedding": [(TOP, tall["embedding"] - gap)],
        "attention": [(y, attention) for y in starts[:-1]],
        "ffn": [(y + attention, ffn - gap) for y in starts[:-1]],
        "lm_head": [(starts[-1], tall["lm_head"])],
    }


def _areas(wide: float, spans: Sequence[tuple[float, float]], colour: str) -> str:
    x = MIDDLE - wide / 2
    path = "".join(f"M{x:g} {y:.2f}h{wide:g}v{tall:.2f}h{-wide:g}z" for y, tall in spans)
    return f'<path d="{path}" fill="{colour}"/>'


def _frame(wide: float, tall: float) -> str:
    return (
        f'<rect x="{MIDDLE - wide / 2 - 3:g}" y="{TOP - 3}" width="{wide + 6:g}" '
        f'height="{tall + 6:g}" fill="none" stroke="{INK}" stroke-dasharray="4 3"/>'
    )


def _shares(cost: Numbers) -> Iterator[str]:
    yield text(NAMES, 16, Text("Parameters", "parameter 수"), bold=True, anchor="start")
    for row, (piece, (name, colour)) in enumerate(PIECES.items()):
        count, y = cost.pieces[piece], 48 + 30 * row
        share = count / cost.parameters
        yield _bar(y, name, LONGEST * share, f"{100 * share:.1f} %", colour)
        yield text(RIGHT, y, f"{count:,}", size=13, anchor="end")
    yield line((NAMES, 190), (RIGHT, 190), width=1)
    yield text(LEFT - 10, 208, Text("in all", "합계"), size=13, anchor="end")
    yield text(RIGHT, 208, f"{cost.parameters:,}", size=14, anchor="end", bold=True)


def _memory(cost: Numbers, T: int) -> Iterator[str]:
    title = Text("Memory in bf16, {T} tokens", "bf16 메모리, token {T}개").fill(T=f"{T:,}")
    yield text(NAMES, 272, title, bold=True, anchor="start")
    rows = (
        (Text("weights", "weight"), cost.weights, BLUE),
        (both("KV cache"), cost.cache, ORANGE),
        (Text("(if MHA)", "(MHA라면)"), cost.cache_of_all, GREY),
    )
    most = max(size for _, size, _ in rows)
    for row, (name, size, colour) in enumerate(rows):
        yield _bar(304 + 30 * row, name, LONGEST * size / most, readable(size), colour)


def _bar(y: float, name: Text, long: float, shown: str, colour: str) -> str:
    return (
        text(LEFT - 10, y, name, size=13, anchor="end")
        + f'<rect x="{LEFT}" y="{y - 9:g}" width="{long:.2f}" height="18" fill="{colour}"/>'
        + text(LEFT + long + 8, y, shown, size=13, anchor="start")
    )


def readable(size: int) -> str:
    """Bytes in MiB or GiB; without a point where that is exact."""
    unit, name = (2**30, "GiB") if size >= 2**30 else (2**20, "MiB")
    return f"{size / unit:,.0f} {name}" if size % unit == 0 else f"{size / unit:,.1f} {name}"


def _said(cost: Numbers) -> Text:
    shares = ", ".join(
        f"{name} {100 * cost.pieces[piece] / cost.parameters:.1f} %"
        for piece, (name, _) in PIECES.items()
    )
    return Text(
        "Blocks on top of one another, and their shares of the parameters: {shares}.",
        "쌓여 있는 block과 각 부분이 parameter에서 차지하는 몫: {shares}.",
    ).fill(shares=shares)
