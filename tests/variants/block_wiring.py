"""Right answers to PreNormBlock and PostNormBlock, and searches for a wrong wire."""

from functools import partial

import torch
from torch import nn


class PreOneLine(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        self.norm1, self.attention, self.norm2, self.ffn = norm1, attention, norm2, ffn

    def forward(self, x, mask=None, **how):
        return (y := x + self.attention(self.norm1(x), mask=mask, **how)) + self.ffn(self.norm2(y))


class PreNamedRotate(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        for name, part in (("attention", attention), ("ffn", ffn), ("norm1", norm1)):
            self.add_module(name, part)
        self.add_module("norm2", norm2)

    def forward(self, x, mask=None, rotate=None):
        attend = self.get_submodule("attention")
        h = self.get_submodule("norm1")(x)
        x1 = torch.add(x, attend(h, mask) if rotate is None else attend(h, mask, rotate))
        return torch.add(x1, self.get_submodule("ffn")(self.get_submodule("norm2")(x1)))


class PreSteps(nn.Module):
    def __init__(self, attention: nn.Module, ffn: nn.Module, norm1: nn.Module, norm2: nn.Module):
        super().__init__()
        self.attention = attention
        self.ffn = ffn
        self.norm1 = norm1
        self.norm2 = norm2

    def forward(self, x, mask=None, **how):
        attend = partial(self.attention, mask=mask, **how)
        for norm, sublayer in ((self.norm1, attend), (self.norm2, self.ffn)):
            x = x + sublayer(norm(x))
        return x


class PreCloned(PreSteps):
    def forward(self, x, *args, **how):
        stream = x.clone()
        stream = stream + self.attention(self.norm1(stream), *args, **how)
        delta = self.ffn(self.norm2(stream))
        return torch.stack([stream, delta]).sum(0)


class PostOneLine(PreSteps):
    def forward(self, x, mask=None, **how):
        y = self.norm1(x + self.attention(x, mask, **how))
        return self.norm2(y + self.ffn(y))


class PostSteps(PreSteps):
    def forward(self, x, mask=None, **how):
        attend = partial(self.attention, mask=mask, **how)
        for norm, sublayer in ((self.norm1, attend), (self.norm2, self.ffn)):
            x = norm(torch.add(sublayer(x), x))
        return x


class PostNamedRotate(nn.Module):
    def __init__(self, attention, ffn, norm1, norm2):
        super().__init__()
        self.attention, self.norm1 = attention, norm1
        self.ffn, self.norm2 = ffn, norm2

    def forward(self, x, mask=None, rotate=None):
        how = {} if rotate is None else {"rotate": rotate}
        residual = x
        x = self.attention(x, mask, **how)
        x = self.norm1(residual + x)
        residual = x
        return self.norm2(self.ffn(x) + residual)


class PostStacked(PreSteps):
    def forward(self, x, *mask, **how):
        first = torch.stack((x, self.attention(x, *mask, **how))).sum(0)
        after = self.norm1(first)
        return self.norm2(torch.stack((after, self.ffn(after))).sum(0))


def wire_by_recording(block):
    """What each part is given, in order, when the parts write powers of ten."""
    seen = []

    def part(name, value):
        def f(h):
            seen.append((name, float(h)))
            return torch.tensor(value)

        return f

    block.norm1, block.norm2 = part("norm1", 10.0), part("norm2", 1000.0)
    block.attention, block.ffn = part("attention", 100.0), part("ffn", 10000.0)
    result = float(block(torch.tensor(1.0)))
    reader, given = seen[2]
    if reader == "norm1":
        return "one_norm_twice"
    if result == 10000:
        return "no_ffn_residual"
    names = {1.0: "ffn_reads_input", 100.0: "no_attention_residual", 110.0: "residual_normalised"}
    return names.get(given, "right")


class _Formula:
    """Adds up to a formula instead of a number."""

    def __init__(self, *terms):
        self.terms = terms

    def __add__(self, other):
        return _Formula(*self.terms, *other.terms)

    def __str__(self):
        return "+".join(sorted(self.terms))


def wire_by_formula(block):
    def part(name):
        return lambda h: _Formula(f"{name}({h})")

    block.attention, block.ffn = part("a"), part("f")
    block.norm1, block.norm2 = part("m"), part("n")
    return {
        "a(m(x))+f(n(a(m(x))+x))+x": "right",
        "a(m(x))+f(n(x))+x": "ffn_reads_input",
        "a(m(x))+f(n(a(m(x))))": "no_attention_residual",
        "f(n(a(m(x))+x))": "no_ffn_residual",
        "a(m(x))+f(m(a(m(x))+x))+x": "one_norm_twice",
        "a(m(x))+f(n(a(m(x))+m(x)))+m(x)": "residual_normalised",
    }[str(block(_Formula("x")))]


def wire_step_by_step(block):
    """One question after the other, each with parts that answer it."""
    x = torch.ones(2, 3, 4)
    same, nothing = nn.Identity(), torch.zeros_like

    def given(**parts):
        for name in ("attention", "ffn", "norm1", "norm2"):
            setattr(block, name, parts.get(name, same))
        return block(x)[0, 0, 0].item()

    if given(attention=nothing, ffn=nothing, norm1=nothing) == 0:
        alone = given(attention=nothing, ffn=lambda h: h + 1)
        if alone == 1:
            return "no_attention_residual"
        if alone == 2:
            return "no_ffn_residual"
        return "residual_normalised"
    if given(ffn=torch.neg) != 0:
        return "ffn_reads_input"
    return "one_norm_twice" if given(norm2=nothing) != 2 else "right"


def wire_by_comparing(block):
    """The same parts in six blocks; one of them gives the same."""
    torch.manual_seed(3)
    names = ("norm1", "attention", "norm2", "ffn")
    parts = [nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in names]
    for name, part in zip(names, parts, strict=True):
        setattr(block, name, part)
    m, a, n, f = parts
    x = torch.randn(2, 3, 4)
    d, e = a(m(x)), m(x)
    outputs = {
        "right": x + d + f(n(x + d)),
        "ffn_reads_input": x + d + f(n(x)),
        "no_attention_residual": d + f(n(d)),
        "no_ffn_residual": f(n(x + d)),
        "one_norm_twice": x + d + f(m(x + d)),
        "residual_normalised": e + d + f(n(e + d)),
    }
    return min(outputs, key=lambda name: float((outputs[name] - block(x)).abs().max()))
