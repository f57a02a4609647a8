"""Sentences in both languages, and particles that fit the nouns filled in."""

import pytest

from blocklab.text import Text


@pytest.mark.parametrize(
    ("noun", "subject", "object"),
    [
        ("rms_norm", "rms_norm이", "rms_norm을"),
        ("split_heads", "split_heads가", "split_heads를"),
        ("PreNormBlock", "PreNormBlock이", "PreNormBlock을"),
        ("decode_step", "decode_step이", "decode_step을"),
        ("attention", "attention이", "attention을"),
        ("SwiGLU", "SwiGLU가", "SwiGLU를"),
        ("함수", "함수가", "함수를"),
        ("값", "값이", "값을"),
        ("tensor (2, 3)", "tensor (2, 3)이", "tensor (2, 3)을"),
        ("tensor (2, 5)", "tensor (2, 5)가", "tensor (2, 5)를"),
    ],
)
def test_a_particle_fits_its_noun(noun: str, subject: str, object: str) -> None:
    says = Text("{name}", "{name}이(가) 있고 {name}을(를) 본다").fill(name=noun)
    assert says.ko == f"{subject} 있고 {object} 본다"
    assert says.en == noun


def test_the_other_particles_and_plain_words() -> None:
    says = Text("", "{a}은(는) {a}(이)라는 이름이고 {b}(으)로 읽는다 (또는 {b})")
    assert says.fill(a="x", b="mask").ko == "x는 x라는 이름이고 mask로 읽는다 (또는 mask)"
    assert says.fill(a="norm", b="값").ko == "norm은 norm이라는 이름이고 값으로 읽는다 (또는 값)"
    assert Text("", "{a}(으)로").fill(a="logit_label").ko == "logit_label로"
