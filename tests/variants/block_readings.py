"""Right answers to logit_lens and LoRALinear."""

import torch
import torch.nn.functional as F
from torch import nn

from blocklab.reference import block as reference


def lens_at_once(states, final_norm, lm_head):
    return lm_head(final_norm(torch.stack(list(states))))


def lens_loop(states, final_norm, lm_head):
    logits = []
    for state in states:
        logits.append(lm_head(final_norm(state)).unsqueeze(0))
    return torch.cat(logits, dim=0)


def lens_filled(states, final_norm, lm_head):
    first = lm_head(final_norm(states[0]))
    result = torch.empty(len(states), *first.shape)
    for n, state in enumerate(states):
        result[n] = lm_head(final_norm(state))
    return result


def lens_mapped(states, final_norm, lm_head):
    return torch.stack(tuple(map(lm_head, map(final_norm, states))))


class LoRAMerged(nn.Module):
    """Computes with the merged weight."""

    def __init__(self, base, rank, alpha):
        super().__init__()
        self.base, self.rank, self.alpha = base, rank, alpha
        for parameter in base.parameters():
            parameter.requires_grad = False
        out_features, in_features = base.weight.shape
        self.A = nn.Parameter(torch.empty(rank, in_features))
        self.B = nn.Parameter(torch.zeros(out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)

    def merged(self):
        return self.base.weight + self.B @ self.A * (self.alpha / self.rank)

    def forward(self, x):
        return F.linear(x, self.merged(), self.base.bias)


class LoRATwoLinears(LoRAMerged):
    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.A), self.B) * self.alpha / self.rank


class LoRAEinsum(LoRAMerged):
    def forward(self, x):
        update = torch.einsum("...i,ri,or->...o", x, self.A, self.B)
        return torch.add(self.base(x), update, alpha=self.alpha / self.rank)

    def merged(self):
        weight = self.base.weight.clone()
        return torch.addmm(weight, self.B, self.A, alpha=self.alpha / self.rank)


class LoRASmallStart(reference.LoRALinear):
    def __init__(self, base, rank, alpha):
        super().__init__(base, rank, alpha)
        self.A = nn.Parameter(0.02 * torch.randn(self.A.shape))

    @torch.no_grad()
    def merged(self):
        return torch.stack([self.base.weight, self.scale * (self.B @ self.A)]).sum(0)
