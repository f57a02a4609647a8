"""The FFN: activations, the plain and the gated form, its weights, and what mixes positions."""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

ffn_widths = "768 3072 768 4096 14336 4096"


def gelu(x: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """GELU, exactly: x times the probability that a standard normal number is below x.

    x of any shape; the result has its shape and dtype. Right for large x too, of either sign.
    Source: Hendrycks and Gimpel (2016), section 2: x Phi(x) = x/2 (1 + erf(x / sqrt 2)).
    """
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))


def silu(x: Float[Tensor, "*any"]) -> Float[Tensor, "*any"]:
    """SiLU, also called Swish: x times its own sigmoid.

    x of any shape; the result has its shape and dtype. Right for large x too, of either sign.
    Source: Hendrycks and Gimpel (2016); Ramachandran, Zoph and Le (2017), with beta = 1.
    """
    return x * torch.sigmoid(x)


def feed_forward(
    x: Float[Tensor, "*batch d_model"],
    w_in: Float[Tensor, "d_ff d_model"],
    b_in: Float[Tensor, " d_ff"],
    w_out: Float[Tensor, "d_model d_ff"],
    b_out: Float[Tensor, " d_model"],
    activation: Callable[[Tensor], Tensor],
) -> Float[Tensor, "*batch d_model"]:
    """The FFN of one block: expand to d_ff, apply the activation, compress to d_model.

    x (…, d_model) with any leading axes. Weights are in PyTorch's layout, (out, in): w_in
    (d_ff, d_model) and w_out (d_model, d_ff); biases b_in (d_ff,) and b_out (d_model,).
    activation works element by element and keeps the shape.
    Source: Vaswani et al. (2017), equation 2, with their ReLU left open.
    """
    hidden = activation(x @ w_in.T + b_in)
    return hidden @ w_out.T + b_out


class FeedForward(nn.Module):
    """`feed_forward` as a layer that owns its weights.

    up_proj and down_proj: its two nn.Linear layers, d_model -> d_ff and d_ff -> d_model, with
    biases. activation works element by element and keeps the shape.
    x and the result are (…, d_model).
    """

    def __init__(self, d_model: int, d_ff: int, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_ff)
        self.down_proj = nn.Linear(d_ff, d_model)
        self.activation = activation

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.down_proj(self.activation(self.up_proj(x)))


class SwiGLU(nn.Module):
    """The gated FFN of Llama: (SiLU(x W_gate) * (x W_up)) W_down.

    gate_proj and up_proj: nn.Linear layers d_model -> d_ff; down_proj: d_ff -> d_model. None of
    the three has a bias. x and the result are (…, d_model).
    Source: Shazeer (2020), equation 6.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))


def ffn_parameters(d_model: int, d_ff: int, gated: bool) -> int:
    """How many weights the matrices of one FFN have; biases are not counted.

    gated: True for a SwiGLU, False for the plain form.
    """
    matrices = 3 if gated else 2
    return matrices * d_model * d_ff


def attention_parameters(d_model: int, n_heads: int, n_kv_heads: int) -> int:
    """How many weights the four projections of one attention have; biases are not counted.

    Heads are d_model / n_heads wide, a whole number. n_heads of them have queries and feed the
    output projection; keys and values have n_kv_heads each, n_kv_heads <= n_heads.
    """
    d_head = d_model // n_heads
    queries, keys = n_heads * d_head, n_kv_heads * d_head
    return 2 * d_model * queries + 2 * d_model * keys


def ffn_as_memory(
    x: Float[Tensor, "*batch d_model"],
    keys: Float[Tensor, "d_ff d_model"],
    values: Float[Tensor, "d_ff d_model"],
    activation: Callable[[Tensor], Tensor],
) -> tuple[Float[Tensor, "*batch d_model"], Float[Tensor, "*batch d_ff"]]:
    """The FFN read as d_ff memories: each matches its key and adds its value to what is written.

    x (…, d_model) with any leading axes. Row i of keys and row i of values, both
    (d_ff, d_model), are memory i; activation works element by element.
    Returns (output, coefficients): output (…, d_model) is the sum of all values, each times its
    coefficient; the coefficient of memory i is activation(x · key i), in coefficients (…, d_ff).
    Source: Geva et al. (2021), section 2.
    """
    coefficients = activation(x @ keys.T)
    return coefficients @ values, coefficients


def mixes_positions(f: Callable[[Tensor], Tensor], x: Float[Tensor, "B T d_model"]) -> bool:
    """Whether f lets information pass from one position to another, found by calling it.

    True if the output at some position depends on the input at another position of the same
    sequence, earlier or later; False if every output depends on its own position at most. f may
    treat each position differently, and need not mix all of them.
    f: from (B, T, d_model) to the same shape, smooth, the same each time it is called, and made
    for finite numbers and this one shape only; sequences of a batch do not see each other.
    x: (B, T, d_model), T >= 2, values of ordinary size, in float64, as f computes. If f mixes, a
    random change of the right token shows at another position with a hundredth of its size or
    more; rounding is near 1e-15.
    """
    before = f(x)
    for t in range(x.shape[1]):
        changed = x.clone()
        changed[:, t] += torch.randn_like(x[:, t])
        moved = ~torch.isclose(f(changed), before)
        moved[:, t] = False
        if moved.any():
            return True
    return False


def token_mixing(
    x: Float[Tensor, "*batch T d_model"],
    w_in: Float[Tensor, "d_tokens T"],
    w_out: Float[Tensor, "T d_tokens"],
) -> Float[Tensor, "*batch T d_model"]:
    """MLP-Mixer's token mixing: one small network over the positions, the same for each feature.

    x (…, T, d_model) with any leading axes. The network takes the T numbers of a feature to
    d_tokens with w_in (d_tokens, T), applies the exact GELU, and goes back to T numbers with
    w_out (T, d_tokens). No biases, no norm and no residual in here.
    Source: Tolstikhin et al. (2021), equation 1, W_2 σ(W_1 X) for token mixing.
    """
    return w_out @ gelu(w_in @ x)


def top_k_experts(
    x: Float[Tensor, "T d_model"],
    router: Float[Tensor, "n_experts d_model"],
    experts: Sequence[Callable[[Tensor], Tensor]],
    k: int,
) -> Float[Tensor, "T d_model"]:
    """A mixture of experts: each token goes to the k experts with its highest router scores.

    x (T, d_model); the score of expert i is x · row i of router (n_experts, d_model), and no two
    scores of a token are equal. experts: n_experts functions of tokens (…, d_model), each from
    one vector to one vector. 1 <= k <= n_experts.
    The result (T, d_model) is, for each token, the sum of what its k experts give, weighted with
    the softmax over its k scores. An expert may be called only with tokens that chose it; for any
    other it gives NaN.
    Source: Jiang et al. (2024), Mixtral of Experts, section 2.1.
    """
    scores, chosen = (x @ router.T).topk(k)
    weights = scores.softmax(dim=-1)
    output = torch.zeros_like(x)
    for i, expert in enumerate(experts):
        token, place = torch.where(chosen == i)
        output[token] += weights[token, place, None] * expert(x[token])
    return output
