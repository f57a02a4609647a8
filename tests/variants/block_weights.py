"""Right answers to count_parameters and load_gpt2."""

from dataclasses import replace

import torch

from blocklab.reference import block as reference


def count_on_meta(config):
    with torch.device("meta"):
        return sum(p.numel() for p in reference.Decoder(config).parameters())


def count_blocks(c):
    attention = [(c.d_model, c.d_model)] * 2 + [(c.d_model, c.n_kv_heads * c.d_head)] * 2
    ffn = [(c.d_model, c.d_ff)] * (3 if c.gated else 2)
    weights = sum(a * b for a, b in attention + ffn)
    biases = sum(b for _, b in attention) * c.bias + (not c.gated) * (c.d_ff + c.d_model)
    norm = c.d_model * (1 + (c.norm == "layer"))
    total = c.n_layers * (weights + biases + 2 * norm) + norm
    total += c.vocab_size * c.d_model + (not c.tied) * c.vocab_size * c.d_model
    return total + (c.positions == "learned") * c.max_T * c.d_model


def count_by_difference(config):
    """One block more, measured; the rest is what is left."""

    def with_layers(n):
        return count_on_meta(replace(config, n_layers=n))

    return with_layers(0) + config.n_layers * (with_layers(1) - with_layers(0))


def count_tensor(config):
    return torch.tensor(count_blocks(config))


def _ours(n, part):
    """Where a part of GPT-2's block n goes."""
    names = {
        "ln_1": "norm1",
        "ln_2": "norm2",
        "attn.c_proj": "attention.out_proj",
        "mlp.c_fc": "ffn.up_proj",
        "mlp.c_proj": "ffn.down_proj",
    }
    return f"blocks.{n}.{names[part]}"


def _as_state_dict(decoder, state_dict):
    """Everything in our names and layouts."""
    prefix = "transformer." if "transformer.wte.weight" in state_dict else ""
    got = {"token_embedding.weight": state_dict[f"{prefix}wte.weight"]}
    got["lm_head.weight"] = got["token_embedding.weight"]
    got["position_embedding.weight"] = state_dict[f"{prefix}wpe.weight"]
    for kind in ("weight", "bias"):
        got[f"final_norm.{kind}"] = state_dict[f"{prefix}ln_f.{kind}"]
    for n in range(len(decoder.blocks)):
        for part in ("ln_1", "ln_2", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"):
            for kind in ("weight", "bias"):
                value = state_dict[f"{prefix}h.{n}.{part}.{kind}"]
                got[f"{_ours(n, part)}.{kind}"] = value.T if value.dim() == 2 else value
        for kind in ("weight", "bias"):
            three = state_dict[f"{prefix}h.{n}.attn.c_attn.{kind}"]
            width = three.shape[-1] // 3
            for letter, value in zip("qkv", three.split(width, dim=-1), strict=True):
                turned = value.t() if kind == "weight" else value
                got[f"blocks.{n}.attention.{letter}_proj.{kind}"] = turned
    return got


def load_strictly(decoder, state_dict):
    decoder.load_state_dict(_as_state_dict(decoder, state_dict))
    return decoder


def load_data(decoder, state_dict):
    parameters = dict(decoder.named_parameters(remove_duplicate=False))
    for name, value in _as_state_dict(decoder, state_dict).items():
        parameters[name].data.copy_(value)
    return decoder


def load_new_storage(decoder, state_dict):
    for name, value in _as_state_dict(decoder, state_dict).items():
        if name != "lm_head.weight":
            decoder.get_parameter(name).data = value.clone().contiguous()
    return decoder


def load_without_gradient(decoder, state_dict):
    with torch.no_grad():
        for name, value in _as_state_dict(decoder, state_dict).items():
            owner = decoder
            *path, last = name.split(".")
            for step in path:
                owner = owner[int(step)] if step.isdigit() else getattr(owner, step)
            getattr(owner, last)[...] = value
    return decoder
