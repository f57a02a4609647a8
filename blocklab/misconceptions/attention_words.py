"""What to tell a learner about the wrong turns that all forms of attention share."""

from blocklab.text import Text

NO_SCALE = Text(
    "The scores are not divided by √d_head. Each is a sum of d_head products, so its spread grows "
    "as √d_head, and a softmax of large scores picks one key and has almost no gradient.",
    "score를 √d_head로 나누지 않았습니다. score는 곱 d_head개의 합이라 퍼진 정도가 √d_head에 "
    "비례해 커지고, score가 크면 softmax가 key 하나에 쏠려 gradient가 거의 사라집니다.",
)
SCALE = {
    "no_scale": NO_SCALE,
    "scale_d": Text(
        "The scores are divided by d_head, not by its root (or by the root twice). They end up "
        "too close together, and the weights come near to uniform.",
        "score를 √d_head가 아니라 d_head로 나누었습니다(또는 √d_head로 두 번 나누었습니다). score "
        "차이가 너무 줄어 weight가 거의 고르게 됩니다.",
    ),
    "scale_times": Text(
        "The scores are multiplied by √d_head. They are to be divided by it: their spread should "
        "come back to about 1.",
        "score에 √d_head를 곱했습니다. 나누어야 합니다. 그래야 퍼진 정도가 1 근처로 돌아옵니다.",
    ),
    "scale_keys": Text(
        "The scores are divided by the root of the number of keys. The root of d_head it is: a "
        "score is a sum over d_head components, however many keys there are.",
        "score를 key 개수의 제곱근으로 나누었습니다. √d_head로 나누세요. score는 key가 몇 개든 "
        "성분 d_head개에 대한 합입니다.",
    ),
    "scale_floor": Text(
        "√d_head is rounded down to a whole number (int, //). That is right "
        "only where d_head is a square, such as 4, 16 or 64, and wrong for every other width.",
        "√d_head를 정수로 내림했습니다(int, //). d_head가 4, 16, 64 같은 제곱수일 때만 맞고 다른 "
        "폭에서는 모두 틀립니다.",
    ),
    "scale_late": Text(
        "The division by √d_head comes after the softmax. Then the rows no longer sum to 1, and "
        "the softmax has already seen the large scores. Divide the scores.",
        "softmax를 취한 뒤에 √d_head로 나누었습니다. 그러면 행의 합이 1이 아니고, softmax는 이미 "
        "큰 score를 본 뒤입니다. score를 나누세요.",
    ),
}
OVER_QUERIES = {
    "over_queries": Text(
        "The softmax runs over the queries (dim=-2): for each key the weights sum to 1. It is "
        "each query that shares out one unit of attention: dim=-1.",
        "softmax를 query 방향(dim=-2)으로 취해서 key마다 weight의 합이 1이 됩니다. 1만큼의 "
        "attention을 나누어 쓰는 쪽은 query입니다: dim=-1.",
    ),
}
SOFTMAX = {
    **OVER_QUERIES,
    "over_all": Text(
        "One softmax runs over all queries and keys together. Each query has a softmax of its "
        "own, over its keys.",
        "query와 key 전체에 softmax를 한 번 취했습니다. query마다 자기 key들에 대해 따로 취합니다.",
    ),
    "over_heads": Text(
        "The softmax runs over dim=1, which is the axis of the heads in a tensor (B, heads, T_q, "
        "T_k). Use dim=-1: the keys stand last, however many axes there are.",
        "softmax를 dim=1로 취했습니다. (B, heads, T_q, T_k)에서 그것은 head 축입니다. 축이 몇 "
        "개든 key는 마지막이니 dim=-1을 쓰세요.",
    ),
    "no_softmax": Text(
        "There is no softmax: these are the scores. Weights are positive and sum to 1.",
        "softmax가 없습니다. 이것은 score입니다. weight는 양수이고 합이 1입니다.",
    ),
    "linear": Text(
        "The scores are divided by their sum. Scores have both signs, so the sum may be near 0, "
        "and weights negative. The softmax takes e^score first.",
        "score를 합으로 나누었습니다. score에는 음수도 있어서 합이 0에 가까울 수도, weight가 "
        "음수일 수도 있습니다. softmax는 먼저 e^score를 취합니다.",
    ),
    "sigmoid": Text(
        "A sigmoid looks at every score alone. Attention is a choice among keys: softmax makes "
        "them share one unit.",
        "sigmoid는 score를 하나씩 따로 봅니다. attention은 key 가운데서 고르는 일이고, softmax가 "
        "key들이 1을 나누어 갖게 합니다.",
    ),
    "hard_max": Text(
        "Everything goes to the key with the highest score (argmax). That choice has no gradient; "
        "a softmax leaves the others a share.",
        "score가 가장 높은 key에 전부 줍니다(argmax). 그런 선택에는 gradient가 없습니다. "
        "softmax는 나머지 key에도 몫을 남깁니다.",
    ),
    "uniform": Text(
        "All visible keys get the same weight: the scores play no part.",
        "보이는 key가 모두 같은 weight를 받습니다. score가 전혀 쓰이지 않았습니다.",
    ),
    "log_softmax": Text(
        "These are logarithms of the weights (log_softmax). A loss wants those; attention wants "
        "the weights themselves.",
        "weight의 로그입니다(log_softmax). 로그는 loss에 쓰고, attention에는 weight 자체를 씁니다.",
    ),
}
MASK = {
    "mask_ignored": Text(
        "The mask is not used: every query sees every key, the future too.",
        "mask를 쓰지 않았습니다. 모든 query가 미래까지 포함해 모든 key를 봅니다.",
    ),
    "after_softmax": Text(
        "The mask comes after the softmax. The forbidden weights are gone, but they took their "
        "share first: the row sums to less than 1, and what is left still depends on the future. "
        "Put -inf into the scores, before the softmax.",
        "softmax를 취한 뒤에 mask를 적용했습니다. 막힌 weight는 없어졌지만 이미 자기 몫을 가져간 "
        "뒤라, 행의 합이 1보다 작고 남은 weight도 여전히 미래에 좌우됩니다. softmax 전에 score에 "
        "-inf를 넣으세요.",
    ),
    "renormalised": Text(
        "The mask comes after the softmax, and the row is divided by what is left. For ordinary "
        "scores that is right; where a forbidden key has the far higher score, nothing is left: 0 "
        "/ 0 is NaN. Mask the scores instead.",
        "softmax 뒤에 mask를 적용하고 남은 합으로 나누었습니다. 보통의 score라면 맞지만, 막힌 "
        "key의 score가 훨씬 크면 남는 것이 없어 0 / 0, 곧 NaN이 됩니다. score에 mask를 적용하세요.",
    ),
    "renormalised_eps": Text(
        "The mask comes after the softmax, and the row is divided by what is left plus a small "
        "number. Where a forbidden key has the far higher score, nothing is left, and the whole "
        "row becomes 0 without a warning: the query takes nothing. Mask the scores instead.",
        "softmax 뒤에 mask를 적용하고, 남은 합에 작은 수를 더해 나누었습니다. 막힌 key의 score가 "
        "훨씬 크면 남는 것이 없어서, 오류도 없이 행 전체가 0이 됩니다. 그 query는 아무것도 "
        "가져오지 못합니다. score에 mask를 적용하세요.",
    ),
    "small_fill": Text(
        "The fill is not negative enough (-1e4, or -100). A score below it exists, and then a "
        "forbidden key wins. Use float('-inf') or torch.finfo(dtype).min.",
        "채운 값이 충분히 작지 않습니다(-1e4나 -100). 그보다 작은 score가 있으면 막힌 key가 "
        "이깁니다. float('-inf')나 torch.finfo(dtype).min을 쓰세요.",
    ),
    "zero_scores": Text(
        "A forbidden score becomes 0 (scores * mask, or a fill of 1e-9 where -1e9 was meant). But "
        "e^0 = 1: 0 is an ordinary score, often above those that are allowed. Only -inf gives "
        "weight 0.",
        "막을 자리의 score를 0으로 만들었습니다(scores * mask, 또는 -1e9 대신 1e-9). 그런데 e^0 = "
        "1입니다. 0은 평범한 score이고, 허용된 score보다 큰 경우도 많습니다. weight가 0이 되려면 "
        "-inf여야 합니다.",
    ),
    "mask_added": Text(
        "The mask is added to the scores as 0 and 1, so an allowed key is only e times as likely. "
        "An additive mask has 0 where a key is allowed and -inf where it is not.",
        "mask를 0과 1로 score에 더했습니다. 허용된 key가 e배 유리해질 뿐입니다. 더하는 mask라면 "
        "허용된 자리는 0, 막힌 자리는 -inf여야 합니다.",
    ),
    "plus_inf": Text(
        "The fill is +inf. softmax then gives inf / inf, which is NaN; the minus sign is what "
        "sends a weight to 0.",
        "채운 값이 +inf입니다. 그러면 softmax가 inf / inf, 곧 NaN이 됩니다. 음의 부호가 있어야 "
        "weight가 0으로 갑니다.",
    ),
    "inverted": Text(
        "The mask is read the wrong way round: True means allowed here. nn.MultiheadAttention's "
        "attn_mask has it the other way, scaled_dot_product_attention as we do.",
        "mask를 거꾸로 읽었습니다. 여기서 True는 허용입니다. nn.MultiheadAttention의 attn_mask는 "
        "반대이고, scaled_dot_product_attention은 우리와 같습니다.",
    ),
    "mask_transposed": Text(
        "The mask is transposed: what query i may see is applied to key i.",
        "mask를 전치해서 적용했습니다. query i가 볼 수 있는 것을 key i에 적용한 셈입니다.",
    ),
    "causal_instead": Text(
        "Where a mask is given, a causal one takes its place: what the given mask says is never "
        "read. The caller chooses the mask.",
        "mask를 주면 그 내용은 읽지 않고 causal mask를 대신 적용합니다. mask는 호출하는 쪽이 "
        "정합니다.",
    ),
    "always_causal": Text(
        "A causal mask is applied whatever mask is given, None too. The caller chooses the mask.",
        "어떤 mask를 주든, None이어도 causal mask를 적용합니다. mask는 호출하는 쪽이 정합니다.",
    ),
}
NUMBERS = {
    "overflow": Text(
        "e^score is computed as it stands: in float32 it is inf from a score of 89 on (in float64 "
        "from 710 on), and inf / inf is NaN. Subtract the largest score of the row first; torch's "
        "softmax does.",
        "e^score를 그대로 계산했습니다. float32에서는 score가 89부터(float64에서는 710부터) inf가 "
        "되고, inf / inf는 NaN입니다. 먼저 그 행의 최댓값을 빼세요. torch의 softmax는 그렇게 "
        "합니다.",
    ),
    "global_max": Text(
        "The largest score of the whole tensor is subtracted. A row far below it becomes 0 / 0, "
        "which is NaN. Each row has a maximum of its own.",
        "tensor 전체의 최댓값을 뺐습니다. 그보다 훨씬 작은 행은 0 / 0, 곧 NaN이 됩니다. 최댓값은 "
        "행마다 따로 구합니다.",
    ),
}
FLOW = {
    "detached": Text(
        "The weights are cut from the graph (.detach(), .data, no_grad): the values are right, "
        "but queries and keys would never learn where to look.",
        "weight가 graph에서 끊겼습니다(.detach(), .data, no_grad). 값은 맞지만 query와 key는 "
        "어디를 볼지 배우지 못합니다.",
    ),
}
SWAPPED = {
    "swapped": Text(
        "Queries and keys have changed places: the scores are k q^T, with a row for each key.",
        "query와 key가 바뀌었습니다. score가 k q^T라서 행이 key에 해당합니다.",
    ),
}
