"""Answers of the demo class to unit 02, as learners write them: right in other ways, and wrong."""

DIFFERENT = {
    "rms_norm": """import torch.nn.functional as F

def rms_norm(x, gain, eps):
    return F.rms_norm(x, gain.shape, gain, eps)""",
    "layer_norm": """def layer_norm(x, gain, bias, eps):
    h = x.float()
    var, mean = torch.var_mean(h, -1, correction=0, keepdim=True)
    return ((h - mean) * (var + eps).rsqrt() * gain.float() + bias.float()).to(x.dtype)""",
    "pre_norm_step": "pre_norm_step = lambda x, norm, sublayer: sublayer(norm(x)).add(x)",
    "deep_norm_constants": """def deep_norm_constants(n_layers):
    return [(2 * n_layers) ** 0.5 ** 2, 1 / (8 * n_layers) ** 0.25]""",
}
NOISY = {
    "rms_norm": """def rms_norm(x, gain, eps):
    print("here", x.shape)
    import warnings
    warnings.warn("slow")
    h = x.float()
    y = h * torch.rsqrt((h * h).mean(-1, True) + eps)
    return (y * gain.float()).to(x.dtype)""",
}
EPS_AFTER_ROOT = {
    "rms_norm": """def rms_norm(x, gain, eps):
    h = x.float()
    root = h.pow(2).mean(-1, keepdim=True).sqrt()
    return (h / (root + eps) * gain.float()).to(x.dtype)""",
}
OVER_TIME = {
    "rms_norm": """def rms_norm(x, gain, eps):
    h = x.float()
    mean = h.pow(2).mean(dim=-2, keepdim=True)
    return (h / (mean + eps).sqrt() * gain.float()).to(x.dtype)""",
}
SAMPLE_VARIANCE = {
    "layer_norm": """def layer_norm(x, gain, bias, eps):
    h = x.float()
    h = (h - h.mean(-1, True)) / (h.var(-1, keepdim=True) + eps).sqrt()
    return (h * gain.float() + bias.float()).to(x.dtype)""",
}
POST_FOR_PRE = {
    "pre_norm_step": """def pre_norm_step(x, norm, sublayer):
    return norm(x + sublayer(x))""",
    "pre_norm_places": """pre_norm_places = fill_in(
    "pre_norm_places", answer="attention add norm ffn add norm"
)""",
}
BROKEN = {
    "rms_norm": """def rms_norm(x, gain, eps)
    return x""",
    "layer_norm": """def layer_norm(x, gain, bias, eps):
    return x / 0 + undefined""",
    "post_norm_step": """def post_norm_step(x, norm, sublayer):
    norm(x + sublayer(x))""",
}
IN_PLACE = {
    "pre_norm_step": """def pre_norm_step(x, norm, sublayer):
    x += sublayer(norm(x))
    return x""",
}
