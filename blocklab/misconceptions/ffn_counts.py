"""Wrong turns in the widths of an FFN, and in counting its weights and attention's."""

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import ffn as reference
from blocklab.text import Text

_WIDTHS = {
    "four_times": {5: "16384"},
    "llama_2": {5: "11008"},
    "twice": {2: "1536"},
    "three_times": {2: "2304"},
    "stays_wide": {3: "3072", 6: "14336"},
    "exchanged": {2: "14336", 5: "3072"},
    "inside_out": {1: "3072", 2: "768", 3: "3072", 4: "14336", 5: "4096", 6: "14336"},
    "constant": {2: "768", 5: "4096"},
    "llama_first": {1: "4096", 2: "14336", 3: "4096", 4: "768", 5: "3072", 6: "768"},
}


def _ffn_widths(wrong: Wrong) -> str:
    words = reference.ffn_widths.split()
    for flag in wrong:
        for place, width in _WIDTHS[flag].items():
            words[place - 1] = width
    return " ".join(words)


ffn_widths = Misconceptions(
    _ffn_widths,
    {
        "four_times": Text(
            "Llama-3 8B does not have 4 · 4096 = 16384. Its FFN has three matrices instead of "
            "two, so its authors chose a factor below 4.",
            "Llama-3 8B는 4 · 4096 = 16384가 아닙니다. FFN의 행렬이 둘이 아니라 "
            "셋이라서, 4보다 작은 배수를 골랐습니다.",
        ),
        "llama_2": Text(
            "11008 is the inner width of Llama-2 7B (8/3 · 4096, rounded up). Llama-3 8B is wider.",
            "11008은 Llama-2 7B의 가운데 폭입니다 (8/3 · 4096을 올림). Llama-3 8B는 더 넓습니다.",
        ),
        "twice": Text(
            "1536 is twice the width of GPT-2 small. Its FFN expands by more.",
            "1536은 GPT-2 small 폭의 두 배입니다. FFN은 그보다 더 넓힙니다.",
        ),
        "three_times": Text(
            "2304 = 3 · 768 is the width of query, key and value together, in attention.",
            "2304 = 3 · 768은 attention에서 query, key, value를 합친 폭입니다.",
        ),
        "stays_wide": Text(
            "The FFN does not come back here. What it writes is added to the stream, so it must "
            "end as wide as it began.",
            "FFN이 되돌아오지 않습니다. 쓴 값을 stream에 더해야 하므로, 시작한 폭으로 끝나야 "
            "합니다.",
        ),
        "exchanged": Text(
            "The two inner widths are exchanged between the models.",
            "두 모델의 가운데 폭이 서로 바뀌었습니다.",
        ),
        "inside_out": Text(
            "This is a bottleneck: wide, narrow, wide. An FFN goes from the narrow stream to a "
            "wide workspace and back.",
            "넓고, 좁고, 다시 넓은 bottleneck입니다. FFN은 좁은 stream에서 넓은 작업 공간으로 "
            "갔다가 돌아옵니다.",
        ),
        "constant": Text(
            "Nothing expands here: the width stays the same all the way.",
            "넓어지는 곳이 없습니다. 처음부터 끝까지 폭이 같습니다.",
        ),
        "llama_first": Text(
            "The widths are right, but the first three places belong to GPT-2 small.",
            "폭은 맞지만, 앞의 세 칸이 GPT-2 small의 자리입니다.",
        ),
    },
    apart=(
        frozenset({"exchanged", "inside_out", "constant", "llama_first", "four_times", "llama_2"}),
        frozenset({"exchanged", "inside_out", "constant", "llama_first", "twice", "three_times"}),
        frozenset({"stays_wide", "inside_out", "llama_first"}),
    ),
)


def _ffn_parameters(wrong: Wrong):
    def ffn_parameters(d_model, d_ff, gated):
        gated = not gated if "flipped" in wrong else gated
        matrices = 3 if gated else 2
        matrices = 2 if "always_two" in wrong else 3 if "always_three" in wrong else matrices
        matrices = 1 if "one_matrix" in wrong else matrices
        matrices = 4 if "gate_doubled" in wrong and gated else matrices
        d_ff = 4 * d_model if "four_times" in wrong else d_ff
        d_ff = 2 * d_ff // 3 if "two_thirds" in wrong and gated else d_ff
        size = d_model + d_ff if "added" in wrong else d_model * d_ff
        biases = d_model + (matrices - 1) * d_ff if "biases" in wrong else 0
        return matrices * (d_ff**2 if "squared" in wrong else size) + biases

    return ffn_parameters


ffn_parameters = Misconceptions(
    _ffn_parameters,
    {
        "biases": Text(
            "The biases are counted as well: d_ff for each way up and d_model for the way down. "
            "Only the weights of the matrices are asked for.",
            "bias까지 셌습니다. 펼치는 변환마다 d_ff개, 되돌아오는 변환에 d_model개입니다. 물은 "
            "것은 행렬의 weight뿐입니다.",
        ),
        "four_times": Text(
            "d_ff is taken to be 4 · d_model, as in GPT-2. It is an argument, since models differ.",
            "GPT-2처럼 d_ff = 4 · d_model로 두었습니다. model마다 다르기 때문에 인자로 받습니다.",
        ),
        "always_two": Text(
            "The gated form is counted with two matrices. It has three: gate, up and down.",
            "gate가 있는 형태를 행렬 두 개로 셌습니다. gate, up, down의 세 개입니다.",
        ),
        "always_three": Text(
            "The plain form is counted with three matrices. It has two: up and down.",
            "gate가 없는 형태를 행렬 세 개로 셌습니다. up과 down의 두 개입니다.",
        ),
        "flipped": Text(
            "gated works the wrong way round: True has three matrices, False two.",
            "gated가 거꾸로입니다. True이면 행렬이 셋이고 False이면 둘입니다.",
        ),
        "one_matrix": Text(
            "One matrix only is counted. There is a way up and a way back.",
            "행렬을 하나만 셌습니다. 펼치는 행렬이 있고 되돌아오는 행렬이 있습니다.",
        ),
        "gate_doubled": Text(
            "The gated form is counted with four matrices. The gate needs a second way up, but "
            "there is only one way down.",
            "gate가 있는 형태를 행렬 네 개로 셌습니다. gate 때문에 펼치는 행렬은 둘이 되지만 "
            "되돌아오는 행렬은 하나뿐입니다.",
        ),
        "two_thirds": Text(
            "d_ff is cut to 2/3 for the gated form. Its designers do that when they choose d_ff; "
            "the argument is the final width already.",
            "gated일 때 d_ff를 2/3로 줄였습니다. 설계할 때 d_ff를 그렇게 정하기도 하지만, "
            "인자로 받는 d_ff는 이미 정해진 폭입니다.",
        ),
        "added": Text(
            "The two sides of each matrix are added. A matrix has rows times columns weights.",
            "행렬의 두 변을 더했습니다. 행렬의 weight 수는 행의 수 곱하기 열의 수입니다.",
        ),
        "squared": Text(
            "The matrices are counted as d_ff by d_ff. One side of each is d_model.",
            "행렬을 d_ff × d_ff로 셌습니다. 한 변은 d_model입니다.",
        ),
    },
    apart=(
        frozenset({"always_two", "always_three", "flipped", "one_matrix", "gate_doubled"}),
        frozenset({"four_times", "two_thirds"}),
        frozenset({"added", "squared"}),
    ),
)


def _attention_parameters(wrong: Wrong):
    def attention_parameters(d_model, n_heads, n_kv_heads):
        keys = values = n_kv_heads * (d_model // n_heads)
        output = d_model
        if wrong & {"kv_ignored", "inverted"}:
            keys = values = d_model if "kv_ignored" in wrong else d_model * n_heads // n_kv_heads
        values = d_model if "keys_only" in wrong else values
        if "no_d_head" in wrong:
            keys = values = n_kv_heads * d_model
        output = 0 if "no_output" in wrong else keys if "output_too" in wrong else output
        keys = 0 if "one_for_both" in wrong else keys
        each = n_heads if "times_heads" in wrong else 1
        widths = d_model + keys + values + output
        biases = widths if "biases" in wrong else 0
        return each * d_model * widths + biases

    return attention_parameters


attention_parameters = Misconceptions(
    _attention_parameters,
    {
        "kv_ignored": Text(
            "n_kv_heads makes no difference: W_k and W_v are counted as d_model by d_model, as in "
            "full multi-head attention. With fewer key and value heads they are narrower.",
            "n_kv_heads를 쓰지 않았습니다. W_k와 W_v를 multi-head attention처럼 d_model × "
            "d_model로 셌습니다. key와 value의 head가 적으면 W_k와 W_v가 좁아집니다.",
        ),
        "keys_only": Text(
            "Only the keys have n_kv_heads heads here. The values have as few.",
            "key만 n_kv_heads개로 줄였습니다. value도 똑같이 적습니다.",
        ),
        "no_output": Text(
            "The output projection is missing: the heads, side by side, go through one more "
            "matrix, d_model by d_model.",
            "output projection이 빠졌습니다. head들을 이어 붙인 뒤 d_model × d_model 행렬을 하나 "
            "더 거칩니다.",
        ),
        "one_for_both": Text(
            "Keys and values are counted as one matrix. They have one each.",
            "key와 value를 행렬 하나로 셌습니다. 각각 하나씩 있습니다.",
        ),
        "output_too": Text(
            "The output projection, or the queries, are as narrow as the keys here. Only keys and "
            "values are shared: there are n_heads query heads, and their outputs all go into W_o.",
            "output projection이나 query까지 key만큼 좁게 셌습니다. 나누어 쓰는 것은 key와 "
            "value뿐입니다. query head는 n_heads개이고, 그 출력이 모두 W_o로 들어갑니다.",
        ),
        "inverted": Text(
            "The ratio is upside down: W_k has n_kv_heads / n_heads times the weights of W_q, not "
            "more of them.",
            "비율이 뒤집혔습니다. W_k의 weight 수는 W_q의 n_kv_heads / n_heads배입니다. 더 많지 "
            "않습니다.",
        ),
        "no_d_head": Text(
            "Each key head is counted with d_model numbers. A head is d_model / n_heads wide.",
            "key head 하나를 수 d_model개로 셌습니다. head 하나의 폭은 d_model / n_heads입니다.",
        ),
        "times_heads": Text(
            "All is multiplied by the number of heads. The heads share d_model between them, so "
            "more heads are narrower heads.",
            "전체에 head 수를 곱했습니다. head들은 d_model을 나누어 가지므로, head가 많으면 그만큼 "
            "좁아질 뿐입니다.",
        ),
        "biases": Text(
            "The biases are counted as well. Only the weights of the matrices are asked for.",
            "bias까지 셌습니다. 물은 것은 행렬의 weight뿐입니다.",
        ),
    },
    apart=(
        frozenset({"kv_ignored", "keys_only", "inverted", "no_d_head"}),
        frozenset({"kv_ignored", "output_too"}),
        frozenset({"keys_only", "output_too"}),
        frozenset({"no_output", "output_too"}),
    ),
)
