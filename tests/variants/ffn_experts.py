"""Right answers to unit 04's mixture of experts, each written in another way."""

import torch
import torch.nn.functional as F


def _token_by_token(x, router, experts, k):
    rows = []
    for token in x:
        scores, chosen = torch.topk(router @ token, k)
        asked = [experts[i](token) for i in chosen.tolist()]
        rows.append(scores.softmax(0) @ torch.stack(asked))
    return torch.stack(rows)


def _renormalised(x, router, experts, k):
    """A softmax over all experts, divided by what the chosen ones have of it."""
    shares, chosen = F.linear(x, router).softmax(-1).topk(k)
    shares = shares / shares.sum(-1, keepdim=True)
    output = torch.zeros_like(x)
    for i in chosen.unique().tolist():
        place, token = (chosen == i).T.nonzero(as_tuple=True)
        output.index_add_(0, token, experts[i](x[token]) * shares[token, place, None])
    return output


def _masked(x, router, experts, k):
    """-inf for the others, and a boolean row for each expert."""
    scores = torch.einsum("td,nd->tn", x, router)
    lowest = scores.sort(dim=1, descending=True).values[:, k - 1 : k]
    weights = scores.masked_fill(scores < lowest, -torch.inf).softmax(1)
    parts = []
    for expert, weight in zip(experts, weights.T, strict=True):
        part, mine = x.new_zeros(x.shape), weight > 0
        part[mine] = weight[mine].unsqueeze(1) * expert(x[mine])
        parts.append(part)
    return sum(parts)


def _sorted_by_expert(x, router, experts, k):
    """One row for each pair of token and expert, brought into the order of the experts."""
    scores, chosen = (x @ router.T).topk(k, sorted=False)
    order = chosen.flatten().argsort()
    pairs = x.repeat_interleave(k, 0)[order]
    sizes = chosen.flatten().bincount(minlength=len(experts)).tolist()
    given = [f(rows) for f, rows in zip(experts, pairs.split(sizes), strict=True)]
    back = torch.cat(given)[order.argsort()].unflatten(0, (-1, k))
    return (scores.softmax(1)[..., None] * back).sum(1)


def _slot_by_slot(x, router, experts, k):
    """The best expert of every token, then the second best, and so on."""
    scores, chosen = (x @ router.T).topk(k)
    weights = (scores - scores.logsumexp(-1, keepdim=True)).exp()
    output = 0
    for slot in range(k):
        rows = [experts[i](row[None]) for i, row in zip(chosen[:, slot], x, strict=True)]
        output = output + weights[:, slot : slot + 1] * torch.cat(rows)
    return output


TOP_K_EXPERTS = [_token_by_token, _renormalised, _masked, _sorted_by_expert, _slot_by_slot]
