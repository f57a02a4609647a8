"""Right ways to join one more chunk to a softmax."""

import torch
import torch.nn.functional as F


def _first_apart(scores, values, kept=None):
    own = scores.max()
    e = torch.exp(scores - own)
    if kept is None:
        return own, e.sum(), e @ values / e.sum()
    top, total, output = kept
    new = own if own > top else top
    a, b = torch.exp(top - new), torch.exp(own - new)
    new_total = a * total + b * e.sum()
    return new, new_total, (a * total * output + b * (e @ values)) / new_total


def _one_more_key(scores, values, kept=None):
    """What was kept is a key whose value is the old output."""
    if kept is not None:
        top, total, output = kept
        scores = torch.cat([(top + total.log())[None], scores])
        values = torch.cat([output[None], values])
        largest = torch.maximum(top, scores[1:].max())
    else:
        largest = scores.max()
    return largest, (scores - largest).exp().sum(), scores.softmax(0) @ values


def _score_by_score(scores, values, kept=None):
    start = torch.tensor(-torch.inf), torch.zeros(()), torch.zeros(values.shape[1])
    top, total, output = kept or start
    for score, value in zip(scores, values, strict=True):
        new = torch.maximum(top, score)
        share = total * torch.exp(top - new)
        weight = torch.exp(score - new)
        top, total = new, share + weight
        output = output + (value - output) * weight / total
    return top, total, output


def _undivided(scores, values, kept=None):
    """A sum is carried inside, and divided on the way out."""
    top, total, output = kept or (scores[0], 0.0, torch.zeros(values.shape[1]))
    new = torch.stack([top, scores.amax()]).amax()
    shrink, e = (top - new).exp(), (scores - new).exp()
    summed = output * total * shrink + torch.einsum("s,sd->d", e, values)
    total = total * shrink + e.sum()
    return [new, total, summed / total]


def _two_softmaxes(scores, values, kept=None):
    """The chunk's own softmax, joined by the logarithms of the two sums."""
    own = scores.logsumexp(0)
    output = F.softmax(scores, dim=0) @ values
    top = scores.max()
    if kept is not None:
        before = kept[0] + kept[1].log()
        share = torch.sigmoid(before - own)
        output = share * kept[2] + (1 - share) * output
        own, top = torch.logaddexp(before, own), torch.max(kept[0], top)
    return top, (own - top).exp(), output


ONLINE = [_first_apart, _one_more_key, _score_by_score, _undivided, _two_softmaxes]
