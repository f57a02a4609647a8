"""Wrong turns in counting a decoder's parameters."""

from blocklab.config import BlockConfig
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text


def _count(wrong: Wrong):
    def count_parameters(config: BlockConfig) -> int:
        norms = 1 if "one_norm_a_block" in wrong else 2
        norm = 0 if "norms_forgotten" in wrong else _norm(config, wrong)
        layers = 1 if "one_block" in wrong else config.n_layers
        block = _attention(config, wrong) + _ffn(config, wrong) + norms * norm
        final = 0 if "final_norm_forgotten" in wrong else norm
        return _embeddings(config, wrong) + layers * block + final

    return count_parameters


def _norm(config: BlockConfig, wrong: Wrong) -> int:
    has_bias = config.norm == "layer" and "norm_bias_forgotten" not in wrong
    return 2 * config.d_model if has_bias or "rms_with_bias" in wrong else config.d_model


def _attention(config: BlockConfig, wrong: Wrong) -> int:
    d = config.d_model
    d_kv = d if "kv_heads_ignored" in wrong else config.n_kv_heads * config.d_head
    d_out = 0 if "out_proj_forgotten" in wrong else d
    biased = config.bias and "attention_bias_forgotten" not in wrong
    return d * (d + 2 * d_kv + d_out) + biased * (2 * d + 2 * d_kv)


def _ffn(config: BlockConfig, wrong: Wrong) -> int:
    gated = (config.gated or "always_gated" in wrong) and "gate_forgotten" not in wrong
    weights = (3 if gated else 2) * config.d_model * config.d_ff
    biased = "ffn_bias_forgotten" not in wrong
    if "ffn_bias_by_config" in wrong:
        biased = config.bias
    elif config.gated:
        biased = False
    return weights + biased * (config.d_ff + config.d_model)


def _embeddings(config: BlockConfig, wrong: Wrong) -> int:
    copies = 1 if config.tied else 2
    copies = 2 if "tied_twice" in wrong else 1 if "head_forgotten" in wrong else copies
    table = config.vocab_size * config.d_model * copies
    if "head_bias" in wrong:
        table += config.vocab_size
    learned = config.positions == "learned" or "positions_always" in wrong
    if learned and "positions_forgotten" not in wrong:
        table += config.max_T * config.d_model
    return table


count_parameters = Misconceptions(
    _count,
    {
        "attention_bias_forgotten": Text(
            "The biases of attention's projections are missing: 2 d_model + 2 n_kv_heads d_head a "
            "block.",
            "attention projection의 bias가 빠졌습니다. block마다 2 d_model + 2 n_kv_heads "
            "d_head개입니다.",
        ),
        "ffn_bias_forgotten": Text(
            "The plain FFN's biases are missing: d_ff + d_model a block.",
            "gate 없는 FFN의 bias가 빠졌습니다. block마다 d_ff + d_model개입니다.",
        ),
        "ffn_bias_by_config": Text(
            "config.bias speaks of the attention. A plain FFN always has biases, a gated one "
            "never.",
            "config.bias는 attention에 관한 것입니다. gate 없는 FFN에는 언제나 bias가 있고, gate가 "
            "있는 FFN에는 없습니다.",
        ),
        "norm_bias_forgotten": Text(
            "A LayerNorm has a gain and a bias: 2 d_model each, not d_model.",
            "LayerNorm에는 gain과 bias가 있어서 하나에 d_model개가 아니라 2 d_model개입니다.",
        ),
        "rms_with_bias": Text(
            "An RMSNorm has a gain only: d_model, not 2 d_model.",
            "RMSNorm에는 gain만 있어서 2 d_model개가 아니라 d_model개입니다.",
        ),
        "norms_forgotten": Text(
            "The norms are not counted. They are small, but they learn.",
            "norm을 세지 않았습니다. 작지만 학습되는 parameter입니다.",
        ),
        "final_norm_forgotten": Text(
            "The final norm, after the last block, is not counted.",
            "마지막 block 뒤의 final norm을 세지 않았습니다.",
        ),
        "one_norm_a_block": Text(
            "A block has two norms, one before each sublayer; one is counted.",
            "block에는 sublayer마다 하나씩 norm이 두 개 있는데 하나만 세었습니다.",
        ),
        "positions_forgotten": Text(
            "The position embedding is missing: max_T · d_model.",
            "position embedding이 빠졌습니다: max_T · d_model.",
        ),
        "positions_always": Text(
            "Rotary positions are computed, not learned: there is no position embedding to count.",
            "rotary 위치는 학습하는 것이 아니라 계산하는 것입니다. 셀 position embedding이 "
            "없습니다.",
        ),
        "tied_twice": Text(
            "A tied LM head is the token embedding again. One matrix counts once.",
            "tied인 LM head는 token embedding과 같은 행렬입니다. 한 행렬은 한 번만 셉니다.",
        ),
        "head_forgotten": Text(
            "The LM head is not counted. Unless it is tied, it has a matrix of its own.",
            "LM head를 세지 않았습니다. tied가 아니라면 자기 행렬이 따로 있습니다.",
        ),
        "head_bias": Text(
            "The LM head has no bias.",
            "LM head에는 bias가 없습니다.",
        ),
        "kv_heads_ignored": Text(
            "Keys and values are counted as wide as the queries. With n_kv_heads heads k_proj and "
            "v_proj are d_model × (n_kv_heads · d_head).",
            "key와 value를 query만큼 넓게 세었습니다. KV head가 n_kv_heads개면 k_proj와 v_proj는 "
            "d_model × (n_kv_heads · d_head)입니다.",
        ),
        "out_proj_forgotten": Text(
            "Attention has a fourth matrix: out_proj, d_model × d_model.",
            "attention에는 네 번째 행렬이 있습니다: out_proj, d_model × d_model.",
        ),
        "gate_forgotten": Text(
            "A gated FFN has three matrices: gate, up and down. Two are counted.",
            "gate가 있는 FFN에는 gate, up, down의 세 행렬이 있는데 둘만 세었습니다.",
        ),
        "always_gated": Text(
            "A plain FFN has two matrices; three are counted.",
            "gate 없는 FFN의 행렬은 둘인데 셋을 세었습니다.",
        ),
        "one_block": Text(
            "One block is counted. Each of the n_layers blocks has weights of its own.",
            "block 하나만 세었습니다. block n_layers개가 저마다 자기 weight를 가집니다.",
        ),
    },
    apart=(
        frozenset({"ffn_bias_forgotten", "ffn_bias_by_config"}),
        frozenset({"norm_bias_forgotten", "rms_with_bias", "norms_forgotten"}),
        frozenset({"norms_forgotten", "final_norm_forgotten"}),
        frozenset({"norms_forgotten", "one_norm_a_block"}),
        frozenset({"positions_forgotten", "positions_always"}),
        frozenset({"tied_twice", "head_forgotten"}),
        frozenset({"gate_forgotten", "always_gated"}),
    ),
)
