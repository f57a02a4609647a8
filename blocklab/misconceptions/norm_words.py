"""What to tell a learner about the wrong turns that RMSNorm and LayerNorm share."""

from blocklab.text import Text

EPS = {
    "eps_after_root": Text(
        "epsilon is added after the root. Inside, √(mean + ε) can never be smaller than √ε; "
        "outside, a token of zeros is divided by ε alone.",
        "epsilon을 제곱근을 취한 뒤에 더했습니다. 안에서 더하면 √(평균 + ε)은 √ε보다 "
        "작아지지 않지만, 밖에서 더하면 작은 token은 거의 ε만으로 나누게 됩니다.",
    ),
    "no_eps": Text(
        "epsilon is not used. A token of zeros is then 0 / 0, which is NaN, and one NaN spoils "
        "everything computed from it.",
        "epsilon을 쓰지 않았습니다. 성분이 모두 0인 token은 0 / 0, 곧 NaN이 되고, NaN 하나가 "
        "이후의 계산을 모두 망칩니다.",
    ),
    "eps_squared": Text(
        "epsilon is squared before it is added: √(mean + ε²). With ε = 1e-5 that is 1e-10, "
        "far too little to protect a small token.",
        "epsilon을 제곱해서 더했습니다: √(평균 + ε²). ε = 1e-5라면 1e-10이 되어 작은 token을 "
        "보호하기에는 턱없이 작습니다.",
    ),
    "eps_as_floor": Text(
        "epsilon is used as a lower bound of the divisor: max(root, ε). It is added to the mean.",
        "epsilon을 나누는 수의 하한으로 썼습니다: max(제곱근, ε). epsilon은 평균에 더합니다.",
    ),
    "eps_in_sum": Text(
        "epsilon is added to the sum of the squares, before dividing by d, so only ε / d of it "
        "is left. It belongs to the mean.",
        "제곱의 합에 epsilon을 더한 뒤 d로 나누어서 ε / d만 남았습니다. epsilon은 평균에 더합니다.",
    ),
}
OVER = {
    "over_time": Text(
        "The mean is taken over the tokens (dim=-2), not over the components of each token "
        "(dim=-1): every token now depends on all the others.",
        "평균을 token마다의 성분(dim=-1)이 아니라 token들(dim=-2)에 걸쳐 구했습니다. 이제 "
        "모든 token이 서로에게 영향을 줍니다.",
    ),
    "over_batch": Text(
        "The mean is taken over the batch (dim=0), as BatchNorm does: what one text gives now "
        "depends on the texts beside it. Use the last axis.",
        "BatchNorm처럼 batch(dim=0)에 걸쳐 평균을 구했습니다. 같은 batch에 어떤 글이 있느냐에 "
        "따라 결과가 달라집니다. 마지막 축을 쓰세요.",
    ),
    "whole_tensor": Text(
        "One mean is taken over the whole tensor, so all tokens are divided by one number. "
        "Each token has its own: dim=-1, keepdim=True.",
        "tensor 전체에서 평균 하나를 구해 모든 token을 같은 수로 나누었습니다. token마다 따로 "
        "구합니다: dim=-1, keepdim=True.",
    ),
    "no_keepdim": Text(
        "keepdim=True is missing. The mean loses its axis, and broadcasting lines up the tokens "
        "with the components: an error for most shapes, but silent and wrong for one text "
        "(T, d_model) with T = d_model.",
        "keepdim=True가 빠졌습니다. 평균의 축이 사라져서 broadcasting이 token을 성분에 맞춥니다. "
        "대개는 오류가 나지만, 글이 하나인 (T, d_model)에서 T = d_model이면 오류 없이 틀린 값이 "
        "나옵니다.",
    ),
}
SIZE = {
    "n_minus_1": Text(
        "The squares are divided by d - 1. That is the sample variance, which torch's var and std "
        "compute unless told otherwise; a norm divides by d.",
        "제곱의 합을 d - 1로 나누었습니다. 그것은 표본분산이고, torch의 var와 std가 기본으로 "
        "계산하는 값입니다. norm은 d로 나눕니다.",
    ),
    "no_root": Text(
        "The root is missing: each token is divided by the mean of its squares. Twice the input "
        "then gives half the output, instead of the same.",
        "제곱근이 빠졌습니다. token을 제곱의 평균으로 나누고 있습니다. 그러면 입력이 두 배일 때 "
        "출력이 그대로가 아니라 절반이 됩니다.",
    ),
}
RMS_SIZE = {
    "norm": Text(
        "Each token is divided by its length √(sum of squares), not by √(mean of squares). That is "
        "√d times too much: the components come out smaller the wider the model is.",
        "token을 RMS가 아니라 벡터의 길이 √(제곱의 합)으로 나누었습니다. √d배만큼 더 나눈 "
        "셈이라, 모델이 넓을수록 성분이 작아집니다.",
    ),
    "mean_abs": Text(
        "Each token is divided by the mean of |x|. The S in RMS is for squares: square, take the "
        "mean, then the root.",
        "|x|의 평균으로 나누었습니다. RMS의 S는 square입니다. 제곱하고, 평균을 내고, 제곱근을 "
        "취하세요.",
    ),
    "layer_norm": Text(
        "The mean is subtracted first. That is LayerNorm; RMSNorm leaves the mean in the token.",
        "먼저 평균을 뺐습니다. 그것은 LayerNorm입니다. RMSNorm은 평균을 빼지 않습니다.",
    ),
    "std": Text(
        "Each token is divided by its standard deviation (torch's std), which measures from the "
        "mean and divides by d - 1. RMS measures from zero: √(mean of x²).",
        "표준편차(torch의 std)로 나누었습니다. 표준편차는 평균에서 잰 크기이고 d - 1로 나눕니다. "
        "RMS는 0에서 잰 크기 √(x²의 평균)입니다.",
    ),
    "variance": Text(
        "Each token is divided by the root of its variance, which measures from the mean, as "
        "LayerNorm does. RMS measures from zero: √(mean of x²).",
        "분산의 제곱근으로 나누었습니다. 분산은 LayerNorm처럼 평균에서 잰 크기입니다. RMS는 0에서 "
        "잰 크기 √(x²의 평균)입니다.",
    ),
    "mean_first": Text(
        "The mean is taken before the square: √(mean²) is only |mean|, and positive and negative "
        "components cancel. Square first.",
        "제곱하기 전에 평균을 냈습니다. √(평균²)은 |평균|일 뿐이고 양수와 음수가 서로 지워집니다. "
        "먼저 제곱하세요.",
    ),
}
GAIN = {
    "no_gain": Text(
        "The gain is not used: every component keeps weight 1.",
        "gain을 곱하지 않았습니다. 모든 성분의 가중치가 1로 남습니다.",
    ),
    "gain_added": Text(
        "The gain is added. It multiplies: component i times gain i.",
        "gain을 더했습니다. gain은 곱하는 값입니다. i번째 성분에 i번째 gain을 곱하세요.",
    ),
    "one_plus_gain": Text(
        "It multiplies by 1 + gain. Gemma stores its gains that way, starting from 0; here the "
        "gain starts from 1 and is the factor itself.",
        "1 + gain을 곱했습니다. Gemma는 gain을 0에서 시작해 그렇게 저장하지만, 여기서는 gain이 "
        "1에서 시작하고 그 자체가 곱하는 수입니다.",
    ),
}
GAIN_INSIDE = {
    "gain_inside": Text(
        "The gain is multiplied in before the size is measured, so it is in the RMS as well. "
        "Measure x, divide, then multiply.",
        "크기를 재기 전에 gain을 곱해서 RMS에도 gain이 들어갔습니다. x의 크기를 먼저 재고, "
        "나눈 다음, gain을 곱하세요.",
    ),
}
DTYPE = {
    "in_half": Text(
        "The squares are computed in half precision: 300² = 90,000 is beyond fp16 (65,504), "
        "becomes inf, and dividing by inf gives zeros. Compute in float32, then go back.",
        "제곱을 half precision으로 계산했습니다. 300² = 90,000은 fp16의 한계(65,504)를 넘어 "
        "inf가 되고, inf로 나누면 0입니다. float32로 계산한 뒤 되돌리세요.",
    ),
    "float32_out": Text(
        "The result is float32 although the input was half precision: a model in bf16 would "
        "change dtype here. Return x's dtype.",
        "입력은 half precision인데 결과가 float32입니다. bf16 모델이라면 여기서 dtype이 "
        "바뀝니다. x의 dtype으로 돌려주세요.",
    ),
}
FLOW = {
    "detached": Text(
        "The size of the token is cut off from the graph (.detach(), .item(), no_grad), as if it "
        "did not depend on x. The values are right; the gradient lacks the part that flows "
        "through the division.",
        "token의 크기가 x와 무관한 상수인 것처럼 graph에서 끊겼습니다 (.detach(), .item(), "
        "no_grad). 값은 맞지만, 나눗셈을 거쳐 흐르는 gradient가 빠집니다.",
    ),
}
IN_PLACE = {
    "in_place": Text(
        "It writes into x. float() gives the same tensor back when x is float32 already, so "
        "h = x.float(); h /= … changes x, and the stream still needs its un-normalised value.",
        "x에 값을 덮어씁니다. x가 이미 float32이면 float()는 같은 tensor를 돌려주므로 "
        "h = x.float(); h /= …는 x를 바꿉니다. stream에는 정규화하기 전의 값이 아직 필요합니다.",
    ),
}
LAYER_ONLY = {
    "eps_after_root": Text(
        "epsilon is added after the root. Inside, √(variance + ε) can never be smaller than √ε; "
        "outside, a token of equal numbers is divided by ε alone.",
        "epsilon을 제곱근을 취한 뒤에 더했습니다. 안에서 더하면 √(분산 + ε)은 √ε보다 작아지지 "
        "않지만, 밖에서 더하면 성분이 모두 같은 token은 ε만으로 나누게 됩니다.",
    ),
    "rms": Text(
        "The mean is not subtracted. That is RMSNorm (with a bias); LayerNorm measures from the "
        "token's own mean.",
        "평균을 빼지 않았습니다. 그것은 bias가 있는 RMSNorm입니다. LayerNorm은 token 자신의 "
        "평균을 기준으로 합니다.",
    ),
    "mean_kept": Text(
        "The standard deviation is right, but x itself is divided by it. Divide x - mean.",
        "표준편차는 맞지만 x를 그대로 나누었습니다. x에서 평균을 뺀 값을 나누세요.",
    ),
    "raw_squares": Text(
        "The mean is subtracted above, but below stands the RMS of x itself. The variance is the "
        "mean of (x - mean)².",
        "분자에서는 평균을 뺐지만 분모는 x 자체의 RMS입니다. 분산은 (x - 평균)²의 평균입니다.",
    ),
    "no_bias": Text(
        "The bias is not added.",
        "bias를 더하지 않았습니다.",
    ),
    "gain_is_bias": Text(
        "Gain and bias are mixed up: it multiplies by the bias and adds the gain.",
        "gain과 bias가 뒤바뀌어, bias를 곱하고 gain을 더합니다.",
    ),
    "bias_before_gain": Text(
        "The bias is added before the gain, so it is multiplied as well: (y + bias) · gain. "
        "It comes last: y · gain + bias.",
        "bias를 gain보다 먼저 더해서 bias에도 gain이 곱해졌습니다: (y + bias) · gain. bias는 "
        "마지막에 더합니다: y · gain + bias.",
    ),
}
MODULE = {
    "eps_fixed": Text(
        "The layer uses 1e-6 whatever eps it was built with. Use self.eps.",
        "생성할 때 받은 eps와 상관없이 1e-6을 씁니다. self.eps를 쓰세요.",
    ),
    "gain_frozen": Text(
        "The gain is taken out of the graph (.data, .detach()), so it gets no gradient and will "
        "never learn.",
        "gain을 graph에서 떼어 냈습니다 (.data, .detach()). gradient를 받지 못해 학습되지 "
        "않습니다.",
    ),
    "gain_zeros": Text(
        "The gain starts at zero: the layer gives zeros until it has learned something. It "
        "starts at one.",
        "gain이 0에서 시작합니다. 무언가 배우기 전까지 layer의 출력이 모두 0입니다. 1에서 "
        "시작해야 합니다.",
    ),
    "residual_inside": Text(
        "The layer adds x to its result. The residual add belongs to the block; a norm only "
        "gives the normalised value.",
        "layer가 결과에 x를 더합니다. residual add는 block이 할 일이고, norm은 정규화한 값만 "
        "돌려줍니다.",
    ),
}
