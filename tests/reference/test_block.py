"""Unit 05's references equal Hugging Face's models, in value and gradient, on random weights."""

from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from torch import Tensor, nn
from transformers import BertConfig, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers.models.bert.modeling_bert import BertLayer
from transformers.models.gpt2.modeling_gpt2 import GPT2Block

from blocklab import config as configs
from blocklab.config import ACTIVATIONS, BlockConfig
from blocklab.reference import block
from blocklab.reference.attention import MultiHeadAttention, causal_mask
from blocklab.reference.ffn import FeedForward

GPT = BlockConfig(
    d_model=24,
    n_heads=4,
    n_kv_heads=4,
    d_ff=40,
    n_layers=3,
    vocab_size=53,
    max_T=11,
    norm="layer",
    eps=1e-3,
    bias=True,
    activation="gelu_tanh",
    gated=False,
    positions="learned",
    tied=True,
)
LLAMA = BlockConfig(
    d_model=24,
    n_heads=6,
    n_kv_heads=2,
    d_ff=40,
    n_layers=3,
    vocab_size=53,
    max_T=11,
    eps=1e-3,
    theta=50.0,
)
HF_BLOCK = {
    "ln_1": "norm1",
    "attn.c_proj": "attention.out_proj",
    "ln_2": "norm2",
    "mlp.c_fc": "ffn.up_proj",
    "mlp.c_proj": "ffn.down_proj",
}
HF_LLAMA = {
    "model.embed_tokens.weight": "token_embedding.weight",
    "model.norm.weight": "final_norm.gain",
    "model.layers": "blocks",
    "self_attn.o_proj": "attention.out_proj",
    "self_attn": "attention",
    "mlp": "ffn",
    "post_attention_layernorm.weight": "norm2.gain",
    "input_layernorm.weight": "norm1.gain",
}


M = TypeVar("M", bound=nn.Module)


def randomised(module: M) -> M:
    """Every parameter random, norms and biases too."""
    with torch.no_grad():
        for name, p in module.named_parameters():
            p.normal_(std=0.3)
            if p.dim() == 1 and name.endswith("weight"):
                p.add_(1)
    return module.eval()


def ids(B: int = 2, T: int = 7) -> Tensor:
    return torch.randint(0, GPT.vocab_size, (B, T))


def close(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=2e-4, atol=2e-5)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(5)


def gpt2() -> GPT2LMHeadModel:
    return randomised(
        GPT2LMHeadModel(
            GPT2Config(
                n_embd=GPT.d_model,
                n_head=GPT.n_heads,
                n_inner=GPT.d_ff,
                n_layer=GPT.n_layers,
                vocab_size=GPT.vocab_size,
                n_positions=GPT.max_T,
                layer_norm_epsilon=GPT.eps,
            )
        )
    )


def turned(value: Tensor) -> Tensor:
    """A Conv1D's weight (in, out) as (out, in); anything with one axis as it is."""
    return value.T if value.dim() == 2 else value


def loaded(hf: GPT2LMHeadModel, config: BlockConfig = GPT) -> block.Decoder:
    return block.load_gpt2(block.Decoder(config), hf.state_dict())


def test_a_loaded_gpt2_has_hugging_faces_logits_and_states():
    hf, x = gpt2(), ids()
    decoder = loaded(hf)
    theirs = hf(x, output_hidden_states=True)
    close(decoder(x), theirs.logits)
    for state, expected in zip(decoder.states(x)[:-1], theirs.hidden_states[:-1], strict=True):
        close(state, expected)
    close(decoder.final_norm(decoder.states(x)[-1]), theirs.hidden_states[-1])


def test_a_loaded_gpt2_has_hugging_faces_gradients():
    hf, x = gpt2(), ids()
    decoder, probe = loaded(hf), torch.randn(2, 7, GPT.vocab_size)
    (decoder(x) * probe).sum().backward()
    (hf(x).logits * probe).sum().backward()
    theirs = {
        name.removeprefix("transformer."): p.grad
        for name, p in hf.named_parameters()
        if p.grad is not None
    }
    ours = {name: p.grad for name, p in decoder.named_parameters() if p.grad is not None}
    close(ours.pop("token_embedding.weight"), theirs.pop("wte.weight"))
    close(ours.pop("position_embedding.weight"), theirs.pop("wpe.weight"))
    for kind in ("weight", "bias"):
        close(ours.pop(f"final_norm.{kind}"), theirs.pop(f"ln_f.{kind}"))
        for n in range(GPT.n_layers):
            three = [ours.pop(f"blocks.{n}.attention.{i}_proj.{kind}") for i in "qkv"]
            close(torch.cat(three), turned(theirs.pop(f"h.{n}.attn.c_attn.{kind}")))
            for hf_name, name in HF_BLOCK.items():
                expected = theirs.pop(f"h.{n}.{hf_name}.{kind}")
                close(ours.pop(f"blocks.{n}.{name}.{kind}"), turned(expected))
    assert not ours
    assert not theirs


def test_gpt2s_names_may_lack_the_prefix_and_hold_masks():
    hf, x = gpt2(), ids()
    bare = {**hf.transformer.state_dict(), "h.0.attn.bias": torch.ones(1, 1, 11, 11)}
    decoder = block.load_gpt2(block.Decoder(GPT), bare)
    close(decoder(x), hf(x).logits)
    del bare["h.1.mlp.c_fc.bias"]
    with pytest.raises(KeyError, match=r"h\.1\.mlp\.c_fc\.bias"):
        block.load_gpt2(block.Decoder(GPT), bare)


def test_loading_keeps_the_parameters_and_the_file_as_they_are():
    hf = gpt2()
    before = {name: value.clone() for name, value in hf.state_dict().items()}
    decoder = block.Decoder(GPT)
    parameters = {name: id(p) for name, p in decoder.named_parameters()}
    assert block.load_gpt2(decoder, hf.state_dict()) is decoder
    assert parameters == {name: id(p) for name, p in decoder.named_parameters()}
    assert decoder.lm_head.weight is decoder.token_embedding.weight
    assert all(p.requires_grad for p in decoder.parameters())
    with torch.no_grad():
        for p in decoder.parameters():
            p.zero_()
    assert all(torch.equal(hf.state_dict()[name], value) for name, value in before.items())


def test_one_pre_norm_block_is_gpt2s_block():
    hf = gpt2()
    theirs, ours = hf.transformer.h[1], loaded(hf).blocks[1]
    assert isinstance(theirs, GPT2Block)
    x, mask = torch.randn(2, 7, GPT.d_model, requires_grad=True), causal_mask(7)
    additive = torch.zeros(1, 1, 7, 7).masked_fill(~mask, torch.finfo(torch.float32).min)
    expected = theirs(x, attention_mask=additive)
    expected = expected[0] if isinstance(expected, tuple) else expected
    probe = torch.randn_like(expected)
    close(ours(x, mask), expected)
    for y in (ours(x, mask), expected):
        assert y.shape == x.shape
    a, b = (torch.autograd.grad((y * probe).sum(), x)[0] for y in (ours(x, mask), expected))
    close(a, b)


def test_the_real_gpt2_small_if_it_is_here():
    hub = pytest.importorskip("huggingface_hub")
    path = hub.try_to_load_from_cache("openai-community/gpt2", "model.safetensors")
    if not isinstance(path, str):
        pytest.skip("GPT-2's weights are not in the local cache")
    folder = path.removesuffix("/model.safetensors")
    hf = GPT2LMHeadModel.from_pretrained(folder).eval()
    decoder = loaded(hf, configs.gpt2_small)
    x = torch.tensor([[464, 3290, 318, 257]])
    torch.testing.assert_close(decoder(x), hf(x).logits, rtol=1e-3, atol=1e-2)


def our_llama_name(name: str) -> str:
    for theirs, ours in HF_LLAMA.items():
        name = name.replace(theirs, ours)
    return name


def test_a_decoder_with_llamas_weights_has_hugging_faces_logits_states_and_gradients():
    hf = randomised(
        LlamaForCausalLM(
            LlamaConfig(
                hidden_size=LLAMA.d_model,
                intermediate_size=LLAMA.d_ff,
                num_hidden_layers=LLAMA.n_layers,
                num_attention_heads=LLAMA.n_heads,
                num_key_value_heads=LLAMA.n_kv_heads,
                vocab_size=LLAMA.vocab_size,
                max_position_embeddings=LLAMA.max_T,
                rms_norm_eps=LLAMA.eps,
                rope_parameters={"rope_type": "default", "rope_theta": LLAMA.theta},
            )
        )
    )
    decoder, x = block.Decoder(LLAMA), ids()
    decoder.load_state_dict({our_llama_name(n): p for n, p in hf.state_dict().items()})
    theirs = hf(x, output_hidden_states=True)
    close(decoder(x), theirs.logits)
    for state, expected in zip(decoder.states(x)[:-1], theirs.hidden_states[:-1], strict=True):
        close(state, expected)
    probe = torch.randn_like(theirs.logits)
    (decoder(x) * probe).sum().backward()
    (theirs.logits * probe).sum().backward()
    for name, p in hf.named_parameters():
        ours, expected = decoder.get_parameter(our_llama_name(name)).grad, p.grad
        assert ours is not None
        assert expected is not None
        close(ours, expected)


def test_one_post_norm_block_is_berts_layer():
    d, heads, d_ff = 24, 4, 40
    theirs = randomised(
        BertLayer(
            BertConfig(
                hidden_size=d,
                num_attention_heads=heads,
                intermediate_size=d_ff,
                layer_norm_eps=1e-3,
            )
        )
    )
    ours = block.PostNormBlock(
        MultiHeadAttention(d, heads, bias=True),
        FeedForward(d, d_ff, ACTIVATIONS["gelu"]),
        nn.LayerNorm(d, eps=1e-3),
        nn.LayerNorm(d, eps=1e-3),
    )
    names = {
        "attention.self.query": "attention.q_proj",
        "attention.self.key": "attention.k_proj",
        "attention.self.value": "attention.v_proj",
        "attention.output.dense": "attention.out_proj",
        "attention.output.LayerNorm": "norm1",
        "intermediate.dense": "ffn.up_proj",
        "output.dense": "ffn.down_proj",
        "output.LayerNorm": "norm2",
    }
    weights = theirs.state_dict()
    ours.load_state_dict(
        {
            f"{o}.{kind}": weights[f"{t}.{kind}"]
            for t, o in names.items()
            for kind in ("weight", "bias")
        }
    )
    x = torch.randn(2, 7, d, requires_grad=True)
    expected = theirs(x)
    expected = expected[0] if isinstance(expected, tuple) else expected
    probe = torch.randn_like(expected)
    close(ours(x), expected)
    a, b = (torch.autograd.grad((y * probe).sum(), x)[0] for y in (ours(x), expected))
    close(a, b)


@pytest.mark.parametrize("config", [GPT, LLAMA, replace(LLAMA, norm="layer", positions="learned")])
def test_a_later_token_changes_nothing_before_it(config):
    decoder, x = block.Decoder(config), ids()
    changed = x.clone()
    changed[:, 4:] = (changed[:, 4:] + 1) % config.vocab_size
    close(decoder(x)[:, :4], decoder(changed)[:, :4])
    assert not torch.allclose(decoder(x)[:, 4:], decoder(changed)[:, 4:])


SHAPES = [
    *(configs.gpt2_small, configs.llama3_8b, configs.llama3_70b, configs.minilm, GPT, LLAMA),
    replace(LLAMA, bias=True, tied=True),
    replace(LLAMA, gated=False, activation="relu", norm="layer"),
    replace(GPT, bias=False, norm="rms", n_kv_heads=1, tied=False),
]


@pytest.mark.parametrize("config", SHAPES)
def test_count_parameters_is_what_a_decoder_has(config):
    with torch.device("meta"):
        decoder = block.Decoder(config)
    assert block.count_parameters(config) == sum(p.numel() for p in decoder.parameters())


def test_count_parameters_knows_the_published_sizes():
    assert block.count_parameters(configs.gpt2_small) == 124_439_808
    assert block.count_parameters(configs.llama3_8b) == 8_030_261_248
    assert block.count_parameters(configs.llama3_70b) == 70_553_706_496
    assert block.count_parameters(GPT) == gpt2().num_parameters()
