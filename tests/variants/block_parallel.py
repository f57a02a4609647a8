"""Right ways to let attention and FFN work side by side."""

from functools import partial

import torch
from torch import nn

from blocklab.reference.block import PreNormBlock


class _Kept(nn.Module):
    def __init__(self, attention, ffn, norm):
        super().__init__()
        self.norm = norm
        self.attention = attention
        self.ffn = ffn


class _FFNFirst(_Kept):
    def forward(self, x, mask=None, **how):
        h = self.norm(x)
        delta = self.ffn(h)
        delta = delta + self.attention(h, mask=mask, **how)
        return torch.add(delta, x)


class _OneLine(_Kept):
    def forward(self, x, *mask, **how):
        return self.attention(h := self.norm(x), *mask, **how) + self.ffn(h) + x


class _Stacked(nn.Module):
    def __init__(self, attention, ffn, norm):
        super().__init__()
        for name, part in (("attention", attention), ("ffn", ffn), ("norm", norm)):
            self.add_module(name, part)

    def forward(self, x, mask=None, rotate=None):
        h = self.get_submodule("norm")(x)
        how = {} if rotate is None else {"rotate": rotate}
        attend, work = self.get_submodule("attention"), self.get_submodule("ffn")
        return torch.stack([x, attend(h, mask, **how), work(h)]).sum(0)


class _Looped(_Kept):
    def forward(self, x, mask=None, **how):
        h, stream = self.norm(x), x.clone()
        for sublayer in (partial(self.attention, mask=mask, **how), self.ffn):
            stream += sublayer(h)
        return stream


class _SerialWithAMemory(PreNormBlock):
    """A Pre-Norm block whose second norm gives what the first one gave."""

    def __init__(self, attention, ffn, norm):
        super().__init__(attention, ffn, nn.Identity(), nn.Identity())
        del self.norm1, self.norm2
        self.norm = norm

    def norm1(self, x):
        self.read = self.norm(x)
        return self.read

    def norm2(self, x):
        return self.read


PARALLEL = [_FFNFirst, _OneLine, _Stacked, _Looped, _SerialWithAMemory]
