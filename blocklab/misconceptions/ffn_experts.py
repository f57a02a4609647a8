"""Wrong turns in a mixture of experts."""

import torch

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _top_k_experts(wrong: Wrong):
    def top_k_experts(x, router, experts, k):
        k = 1 if "best_only" in wrong else 2 if "two" in wrong else k
        scores = x @ (router if "transposed" in wrong else router.T)
        asked = _asked(scores, k, wrong)
        weights = _weights(scores, asked, wrong)
        weights = weights.detach() if "detached" in wrong else weights
        output = x if "in_place" in wrong else torch.zeros_like(x)
        for i, expert in enumerate(experts):
            _add(output, x, expert, asked[:, i], weights[:, i, None], wrong)
        return x + output if "residual_inside" in wrong else output

    return top_k_experts


def _asked(scores, k, wrong: Wrong):
    """Which expert is asked about which token, as a table (T, n_experts) of True and False."""
    if "all_of_them" in wrong:
        return torch.ones_like(scores) > 0
    dim = 0 if "experts_choose" in wrong else 1
    best = scores.topk(k, dim, largest="lowest" not in wrong).indices
    best = best * 0 + torch.arange(k) if "first_k" in wrong else best
    return torch.zeros_like(scores).scatter(dim, best, 1) > 0


def _weights(scores, asked, wrong: Wrong):
    """The weight of each expert for each token, 0 where it is not asked."""
    if "softmax_first" in wrong:
        return scores.softmax(1) * asked
    if "raw" in wrong:
        return scores * asked
    if "sigmoid" in wrong:
        return scores.sigmoid() * asked
    if "unweighted" in wrong:
        return asked.to(scores.dtype)
    dim = 0 if "over_tokens" in wrong else 1
    weights = scores.masked_fill(~asked, -torch.inf).softmax(dim).nan_to_num()
    if "mean" in wrong:
        return asked / asked.sum(1, keepdim=True)
    return weights.amax(1, keepdim=True) * asked if "first_weight" in wrong else weights


def _add(output, x, expert, asked, weight, wrong: Wrong) -> None:
    """Writes one expert's share into the output."""
    if "weight_zero" in wrong:
        output += weight * expert(x)
    elif "thrown_away" in wrong:
        output[asked] += weight[asked] * expert(x)[asked]
    elif "weighted_input" in wrong:
        output[asked] += expert(weight[asked] * x[asked])
    elif "overwritten" in wrong:
        output[asked] = weight[asked] * expert(x[asked])
    else:
        output[asked] += weight[asked] * expert(x[asked])


_WEIGHTS = {
    "softmax_first": Text(
        "The softmax runs over all experts, and those that are not asked keep their share: the "
        "weights of the k sum to less than 1. Take the softmax over the k scores.",
        "모든 expert에 softmax를 취해서, 고르지 않은 expert가 제 몫을 그대로 가져갔습니다. 고른 "
        "k개의 weight를 더해도 1이 안 됩니다. k개의 score에만 softmax를 취하세요.",
    ),
    "raw": Text(
        "The scores themselves are the weights; they may be negative and sum to anything. "
        "Mixtral takes the softmax over the k of them.",
        "score를 그대로 weight로 썼습니다. score는 음수일 수도 있고 합도 정해져 있지 않습니다. "
        "Mixtral은 k개의 score에 softmax를 취합니다.",
    ),
    "sigmoid": Text(
        "The weights are sigmoids, each expert's by itself. Other models do that; in Mixtral the "
        "k compete in a softmax, and their weights sum to 1.",
        "expert마다 따로 sigmoid를 취했습니다. 그런 모델도 있지만, Mixtral에서는 k개가 softmax로 "
        "경쟁하고 weight의 합이 1입니다.",
    ),
    "unweighted": Text(
        "The k results are added with weight 1. Each has a weight from the softmax over the k "
        "scores; without it no gradient reaches the router either.",
        "k개의 결과를 weight 없이 더했습니다. 저마다 k개의 score에 대한 softmax로 정한 weight를 "
        "곱해야 합니다. weight가 없으면 router로 gradient도 흐르지 않습니다.",
    ),
    "mean": Text(
        "The k results are averaged. The better score has the larger weight: a softmax over the "
        "k scores. With a plain mean no gradient reaches the router.",
        "k개의 결과를 평균 냈습니다. score가 높을수록 weight도 커야 합니다. k개의 score에 "
        "softmax를 취하세요. 평균만 내면 router로 gradient가 흐르지 않습니다.",
    ),
    "over_tokens": Text(
        "The softmax runs down the tokens (dim=0), so tokens compete with one another. Each token "
        "shares out its own 1 among its k experts: dim=-1.",
        "softmax를 token 방향(dim=0)으로 취해서 token끼리 경쟁합니다. token마다 자기 몫 1을 고른 "
        "expert k개에 나누어야 합니다: dim=-1.",
    ),
    "first_weight": Text(
        "All k results have the weight of the best expert. Each expert has its own: beside the "
        "row of the token, keep the place at which it chose the expert.",
        "k개의 결과에 모두 첫째 expert의 weight를 곱했습니다. weight는 expert마다 다릅니다. 어느 "
        "token인지와 함께, 그 token이 몇 번째로 고른 expert인지도 알아야 합니다.",
    ),
}
_CHOICE = {
    "all_of_them": Text(
        "All experts are asked, and the softmax runs over all of them. The idea is to ask k only: "
        "use topk.",
        "모든 expert를 부르고 softmax도 전체에 취했습니다. k개만 부르는 것이 핵심입니다. topk를 "
        "쓰세요.",
    ),
    "best_only": Text(
        "Only the best expert is asked (as in the Switch Transformer). Here it is the best k.",
        "가장 좋은 expert 하나만 불렀습니다(Switch Transformer의 방식입니다). 여기서는 k개입니다.",
    ),
    "two": Text(
        "Two experts are asked whatever k is. Mixtral has k = 2; here it is an argument.",
        "k가 얼마든 expert 둘을 불렀습니다. Mixtral에서는 k = 2이지만 여기서는 인자로 받습니다.",
    ),
    "lowest": Text(
        "The experts with the lowest scores are asked. The highest are wanted.",
        "score가 가장 낮은 expert들을 불렀습니다. 가장 높은 쪽이어야 합니다.",
    ),
    "experts_choose": Text(
        "Each expert takes the k tokens with its best scores (topk over dim 0): there are such "
        "models, but some tokens find no expert. Here each token chooses: topk over the experts.",
        "expert마다 score가 높은 token k개를 골랐습니다(dim 0의 topk). 그런 모델도 있지만, 아무 "
        "expert에게도 가지 못하는 token이 생깁니다. 여기서는 token이 고릅니다. expert 방향으로 "
        "topk를 취하세요.",
    ),
    "first_k": Text(
        "Always the first k experts are asked, experts[0] to experts[k - 1]. The place in topk is "
        "not the expert's number: that stands in the second thing topk returns, the indices.",
        "언제나 처음 k개, 곧 experts[0]부터 experts[k - 1]까지 불렀습니다. topk에서 몇 번째인지는 "
        "expert의 번호가 아닙니다. 번호는 topk가 둘째로 돌려주는 indices에 있습니다.",
    ),
    "transposed": Text(
        "The router is applied as x @ router. A row of it belongs to an expert: x @ router.T. "
        "With as many experts as components nothing complains.",
        "router를 x @ router로 적용했습니다. router의 한 행이 expert 하나이므로 x @ router.T가 "
        "맞습니다. expert의 수가 d_model과 같으면 오류도 나지 않습니다.",
    ),
}
_CALLS = {
    "weight_zero": Text(
        "Every expert is called with every token, and most results count with weight 0. That "
        "saves no work, and 0 · NaN is NaN. Give an expert the rows of its tokens: x[token].",
        "모든 expert를 모든 token으로 호출하고 대부분의 결과에 0을 곱했습니다. 그러면 계산을 전혀 "
        "아끼지 못하고, 0 · NaN은 NaN입니다. expert에게는 자기 token의 행만 주세요: x[token].",
    ),
    "thrown_away": Text(
        "Every expert is called with every token, and most of what it gives is thrown away "
        "afterwards. Choose the rows before the call: expert(x[token]), not expert(x)[token].",
        "모든 expert를 모든 token으로 호출한 뒤 결과를 대부분 버렸습니다. 호출하기 전에 행을 "
        "고르세요. expert(x)[token]이 아니라 expert(x[token])입니다.",
    ),
    "weighted_input": Text(
        "The weight multiplies what the expert reads. Through a curved function that is not the "
        "same: multiply what it gives.",
        "expert가 읽는 값에 weight를 곱했습니다. 비선형 함수를 지나면 결과가 달라집니다. expert의 "
        "출력에 곱하세요.",
    ),
    "overwritten": Text(
        "Each expert overwrites what the one before it wrote for the same token (=). Add: +=.",
        "같은 token에 앞의 expert가 쓴 값을 덮어썼습니다(=). 더하세요: +=.",
    ),
}
_FLOW = {
    "residual_inside": Text(
        "x is added to the result. The residual add belongs to the block; this returns only the "
        "update.",
        "결과에 x를 더했습니다. residual add는 block이 할 일이고, 여기서는 update만 돌려줍니다.",
    ),
    "in_place": Text(
        "The sum is gathered in x itself, so the next expert reads what the last one wrote, and "
        "the caller's tokens are gone. Start from torch.zeros_like(x).",
        "x 자체에 더해 나가서, 다음 expert가 앞의 expert가 쓴 값을 읽고 호출한 쪽의 token도 "
        "사라집니다. torch.zeros_like(x)에서 시작하세요.",
    ),
    "detached": Text(
        "The weights are cut out of the graph (.item(), .detach(), no_grad): the values are "
        "right, but the router would never learn whom to ask.",
        "weight를 graph에서 떼어 냈습니다(.item(), .detach(), no_grad). 값은 맞지만 router는 어느 "
        "expert를 골라야 하는지 배우지 못합니다.",
    ),
}
top_k_experts = Misconceptions(
    _top_k_experts,
    {**_WEIGHTS, **_CHOICE, **_CALLS, **_FLOW},
    apart=(
        frozenset({*_WEIGHTS, *_CHOICE}),
        frozenset({*_CHOICE, *_CALLS}),
        frozenset(_FLOW),
        frozenset({*_CALLS, "transposed", "in_place"}),
        frozenset({"detached", "unweighted", "mean"}),
    ),
)
