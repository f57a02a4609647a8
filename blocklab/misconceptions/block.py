"""Wrong turns in stacking blocks."""

from blocklab.misconceptions.block_count import count_parameters
from blocklab.misconceptions.block_decoder import Decoder
from blocklab.misconceptions.block_gpt2 import load_gpt2
from blocklab.misconceptions.block_lora import LoRALinear
from blocklab.misconceptions.block_parallel import ParallelBlock
from blocklab.misconceptions.block_readings import logit_lens, name_the_wire
from blocklab.misconceptions.block_wiring import PostNormBlock, PreNormBlock
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import block as reference
from blocklab.text import Text

__all__ = [
    "Decoder",
    "LoRALinear",
    "ParallelBlock",
    "PostNormBlock",
    "PreNormBlock",
    "arrows",
    "block_nodes",
    "count_parameters",
    "load_gpt2",
    "logit_lens",
    "name_the_wire",
]

_FFN_FIRST = {
    "causal_attention": "ffn",
    "add_attention": "add_ffn",
    "ffn": "causal_attention",
    "add_ffn": "add_attention",
}
_POST = "x0 causal_attention add_attention norm x1 ffn add_ffn norm x2"


def _block_nodes(wrong: Wrong) -> str:
    words = reference.block_nodes.split()
    if "post" in wrong:
        words = _POST.split() + words[9:]
    if "ffn_first" in wrong:
        words = [_FFN_FIRST.get(word, word) for word in words]
    if "bidirectional" in wrong:
        words = ["full_attention" if word == "causal_attention" else word for word in words]
    if "replaced" in wrong:
        words = ["replace" if word.startswith("add_") else word for word in words]
    if "final_norm_repeated" in wrong:
        _exchange(words, "repeat", "final_norm")
    if "head_before_norm" in wrong:
        _exchange(words, "final_norm", "lm_head")
    if "logits_before_head" in wrong:
        _exchange(words, "lm_head", "logits")
    if "softmax_head" in wrong:
        words[words.index("lm_head")] = "softmax"
    if "final_norm_forgotten" in wrong:
        words.remove("final_norm")
    return " ".join(words)


def _exchange(words: list[str], one: str, other: str) -> None:
    """Exchange the last place of each of two words."""
    i, j = (len(words) - 1 - words[::-1].index(word) for word in (one, other))
    words[i], words[j] = words[j], words[i]


_OUTPUT = ("final_norm_repeated", "head_before_norm", "logits_before_head", "softmax_head")

block_nodes = Misconceptions(
    _block_nodes,
    {
        "post": Text(
            "This is the Post-Norm block: each norm stands after its add. In GPT-2 and Llama it "
            "stands on the branch, before the sublayer, and the stream itself is not normalised.",
            "이것은 Post-Norm block입니다. norm이 add 뒤에 있습니다. GPT-2와 Llama에서는 norm이 "
            "sublayer 앞의 옆길에 있고, stream 자체는 정규화하지 않습니다.",
        ),
        "ffn_first": Text(
            "The FFN stands before the attention. A block communicates first, then computes: x1 "
            "holds what attention fetched, and the FFN works on that.",
            "FFN이 attention보다 앞에 있습니다. block은 먼저 소통하고 그다음에 계산합니다. x1에 "
            "attention이 가져온 것이 담기고, FFN은 그 x1에서 일합니다.",
        ),
        "bidirectional": Text(
            "Attention without a mask belongs to an encoder such as BERT. A decoder predicts the "
            "next token, so no position may see a later one.",
            "mask 없는 attention은 BERT 같은 encoder의 것입니다. decoder는 다음 token을 "
            "예측하므로 어느 위치도 자기보다 뒤를 보아서는 안 됩니다.",
        ),
        "replaced": Text(
            "The sublayers' outputs take the place of the stream. They are added: x1 = x0 + Δ, "
            "x2 = x1 + Δ.",
            "sublayer의 출력이 stream을 대신합니다. 실제로는 더합니다: x1 = x0 + Δ, x2 = x1 + Δ.",
        ),
        "final_norm_repeated": Text(
            "The final norm stands before “repeat”, so every block would end with it. It comes "
            "once, after the last block.",
            "final norm이 repeat보다 앞에 있어서 block마다 한 번씩 지나게 됩니다. final norm은 "
            "마지막 block 뒤에 한 번만 있습니다.",
        ),
        "head_before_norm": Text(
            "The LM head comes before the final norm here. It reads normalised states of width "
            "d_model; what leaves it has width vocab_size, and no norm follows.",
            "LM head가 final norm보다 앞에 있습니다. LM head는 정규화된 폭 d_model의 state를 "
            "읽습니다. 그 출력은 폭이 vocab_size이고, 그 뒤에는 norm이 없습니다.",
        ),
        "logits_before_head": Text(
            "Logits are what the LM head gives, so they come after it.",
            "logits는 LM head의 출력이므로 LM head 다음에 옵니다.",
        ),
        "softmax_head": Text(
            "A softmax stands where the LM head belongs. Softmax turns logits into probabilities, "
            "later; it cannot get from d_model numbers to one score for each token.",
            "LM head가 있을 자리에 softmax가 있습니다. softmax는 나중에 logits를 확률로 바꾸는 "
            "함수입니다. d_model개의 수에서 vocabulary의 token마다 점수를 하나씩 만들어 내지는 "
            "못합니다.",
        ),
        "final_norm_forgotten": Text(
            "There is no final norm. Pre-Norm never normalises the stream on its way, so the LM "
            "head would get it at whatever scale the updates have piled up.",
            "final norm이 없습니다. Pre-Norm은 가는 길에 stream을 정규화하지 않으므로, LM head는 "
            "update가 쌓인 크기 그대로의 값을 받게 됩니다.",
        ),
    },
    apart=(
        frozenset(_OUTPUT),
        frozenset({"final_norm_forgotten", "final_norm_repeated", "head_before_norm"}),
    ),
)

_SWAPPED = {"input": "processing", "processing": "input"}
# by flag, what stands in which of the ten places
_LABELS = {
    "by_the_head": {2: "processing", 3: "input"},
    "bypass_processes": {2: "processing"},
    "depth_is_time": {7: "history"},
    "depth_is_recurrence": {7: "recurrence"},
    "models_process": {9: "processing"},
    "models_feed": {9: "input"},
    "designs_process": {10: "processing"},
}


def _arrows(wrong: Wrong) -> str:
    words = reference.arrows.split()
    if "swapped" in wrong:
        words = [_SWAPPED.get(word, word) for word in words]
    if "all_processing" in wrong:
        words = ["processing" if word == "input" else word for word in words]
    for flag in wrong & _LABELS.keys():
        for place, label in _LABELS[flag].items():
            words[place - 1] = label
    return " ".join(words)


arrows = Misconceptions(
    _arrows,
    {
        "by_the_head": Text(
            "You have gone by where each arrow ends. Go by where it starts: from a state it is "
            "“input”, from something that computes it is “processing”.",
            "화살표가 끝나는 쪽을 보고 정했습니다. 시작하는 쪽을 보세요. state에서 나오면 "
            "input이고, 무언가를 계산한 것에서 나오면 processing입니다.",
        ),
        "swapped": Text(
            "“input” and “processing” are exchanged. A state that is handed to a reader is input; "
            "the result of a computation that goes on is processing.",
            "input과 processing이 서로 바뀌었습니다. state를 읽는 쪽에 건네는 것이 input이고, "
            "계산한 결과가 다음으로 가는 것이 processing입니다.",
        ),
        "all_processing": Text(
            "Everything inside the model is called “processing”. x0, x1 and x2 are states: handing "
            "one on computes nothing.",
            "모델 안의 화살표를 모두 processing이라고 했습니다. x0, x1, x2는 state이고, state를 "
            "건네는 데는 아무 계산도 없습니다.",
        ),
        "bypass_processes": Text(
            "The arrow from x0 straight to the add carries x0 untouched, round the sublayer. That "
            "is the point of a residual: it is input to the add, nothing is processed on the way.",
            "x0에서 덧셈으로 바로 가는 화살표는 sublayer를 거치지 않고 x0을 그대로 나릅니다. "
            "residual의 핵심입니다. 덧셈의 input일 뿐, 가는 길에 처리되는 것은 없습니다.",
        ),
        "depth_is_time": Text(
            "From one block to the next is no history: in the same forward pass the next block "
            "reads x2 as its input.",
            "다음 block으로 가는 것은 history가 아닙니다. 같은 forward pass 안에서 다음 block이 "
            "x2를 input으로 읽습니다.",
        ),
        "depth_is_recurrence": Text(
            "From one block to the next is no recurrence: no token waits for the one before it. "
            "Each token's x2 goes up into the next block, all of them in the same forward pass.",
            "다음 block으로 가는 것은 recurrence가 아닙니다. 어떤 token도 앞 token을 기다리지 "
            "않습니다. 같은 forward pass 안에서 모든 token의 x2가 한꺼번에 다음 block으로 갑니다.",
        ),
        "models_process": Text(
            "No tensor goes from GPT-1 to GPT-2, and GPT-2 is not GPT-1 processed further. One "
            "was published before the other: history.",
            "GPT-1에서 GPT-2로 가는 tensor는 없고, GPT-2는 GPT-1을 더 처리한 것도 아닙니다. 먼저 "
            "나오고 나중에 나왔을 뿐이니 history입니다.",
        ),
        "models_feed": Text(
            "GPT-2 does not read GPT-1's output. The arrow says which came first: history.",
            "GPT-2는 GPT-1의 출력을 읽지 않습니다. 화살표는 무엇이 먼저 나왔는지를 말합니다. "
            "history입니다.",
        ),
        "designs_process": Text(
            "LayerNorm → RMSNorm is not two norms in a row. Newer models use the one where older "
            "ones used the other: history.",
            "LayerNorm → RMSNorm은 norm 두 개를 잇달아 지난다는 뜻이 아닙니다. 예전 모델이 쓰던 "
            "것 대신 요즘 모델은 다른 것을 쓴다는 뜻, 곧 history입니다.",
        ),
    },
    apart=(
        frozenset({"by_the_head", "swapped", "all_processing", "bypass_processes"}),
        frozenset({"depth_is_time", "depth_is_recurrence"}),
        frozenset({"models_process", "models_feed"}),
    ),
)
