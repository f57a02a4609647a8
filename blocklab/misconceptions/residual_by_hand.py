"""Wrong turns in what is worked out by hand: the addition, the nine nodes, and growth."""

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.reference import residual as reference
from blocklab.text import Text


def _add_by_hand(wrong: Wrong) -> list[float]:
    x, delta = [1.0, 2.0, -1.0, 0.0], [0.2, -0.5, 0.3, 0.1]
    y = [a + b for a, b in zip(x, delta, strict=True)]
    if "replaced" in wrong:
        y = delta
    if "subtracted" in wrong:
        y = [a - b for a, b in zip(x, delta, strict=True)]
    if "multiplied" in wrong:
        y = [a * b for a, b in zip(x, delta, strict=True)]
    if "averaged" in wrong:
        y = [value / 2 for value in y]
    if "minus_lost" in wrong:
        y[1] = 2.5
    if "away_from_zero" in wrong:
        y[2] = -1.3
    return y


_OTHER_OPERATIONS = frozenset({"replaced", "subtracted", "multiplied", "averaged"})

add_by_hand = Misconceptions(
    _add_by_hand,
    {
        "replaced": Text(
            "These are the numbers of the update alone: the token itself is gone. The update is "
            "added to the token, it does not take its place.",
            "update만 남고 원래 token이 사라졌습니다. update는 token을 대신하는 값이 아니라 "
            "token에 더하는 값입니다.",
        ),
        "subtracted": Text(
            "The update was subtracted. A sublayer that wants less of something writes a negative "
            "number; the stream always adds.",
            "update를 뺐습니다. 줄이고 싶은 성분이 있으면 sublayer가 음수를 씁니다. stream이 "
            "하는 일은 언제나 덧셈입니다.",
        ),
        "multiplied": Text(
            "The components were multiplied. Then the 0 in the token could never change; added, "
            "it becomes 0.1.",
            "성분끼리 곱했습니다. 곱셈이라면 token의 0은 영원히 0이지만, 덧셈이므로 0.1이 됩니다.",
        ),
        "averaged": Text(
            "This is the mean of token and update. The token passes whole: nothing is halved.",
            "token과 update의 평균입니다. token은 절반이 아니라 온전히 지나갑니다.",
        ),
        "minus_lost": Text(
            "The second component lost a minus sign: 2 + (-0.5) = 1.5.",
            "두 번째 성분에서 음의 부호를 놓쳤습니다. 2 + (-0.5) = 1.5입니다.",
        ),
        "away_from_zero": Text(
            "The third component went the wrong way: -1 + 0.3 is nearer to zero, -0.7.",
            "세 번째 성분이 반대쪽으로 갔습니다. -1에 0.3을 더하면 0에 가까워져 -0.7이 됩니다.",
        ),
    },
    apart=(_OTHER_OPERATIONS | {"minus_lost"}, _OTHER_OPERATIONS | {"away_from_zero"}),
)


_FFN_FIRST = {
    "norm_attention": "norm_ffn",
    "add_attention": "add_ffn",
    "norm_ffn": "norm_attention",
    "add_ffn": "add_attention",
}


def _exchange(words: list[str], *places: int) -> None:
    """Exchange the word at each place with the one after it."""
    for n in places:
        words[n], words[n + 1] = words[n + 1], words[n]


def _nine_nodes(wrong: Wrong) -> str:
    words = reference.nine_nodes.split()
    if "ffn_first" in wrong:
        words = [_FFN_FIRST.get(word, word) for word in words]
    if "replaced" in wrong:
        words[words.index("add_attention")] = "replace_attention"
    if "add_first" in wrong:
        _exchange(words, 1, 4)
    if "state_first" in wrong:
        _exchange(words, 2, 5)
    if "norm_after" in wrong:
        words.remove("final_norm")
        words.insert(6, "norm_after_add")
    if "last_norm" in wrong:
        words[words.index("final_norm")] = "norm_after_add"
    if "half_repeated" in wrong:
        words.remove("repeat")
        words.insert(4, "repeat")
    if "final_inside" in wrong:
        _exchange(words, 7)
    return " ".join(words[::-1] if "upwards" in wrong else words)


nine_nodes = Misconceptions(
    _nine_nodes,
    {
        "ffn_first": Text(
            "FFN stands before Attention. A block communicates first and computes then: the FFN "
            "works on a state that already holds what Attention fetched.",
            "FFN이 Attention보다 앞에 있습니다. block은 먼저 소통하고 그다음에 계산합니다. FFN은 "
            "Attention이 가져온 문맥이 이미 담긴 state를 받습니다.",
        ),
        "replaced": Text(
            "Attention's output replaces the stream here. It is added: x1 holds x0 and the update.",
            "여기서는 Attention의 출력이 stream을 교체합니다. 실제로는 더합니다. 그래서 x1에는 "
            "x0과 update가 함께 들어 있습니다.",
        ),
        "add_first": Text(
            "The addition stands before the sublayer that computes what is added. Read, compute, "
            "then add.",
            "더할 값을 계산하는 sublayer보다 덧셈이 먼저 나옵니다. 읽고, 계산하고, 그다음에 "
            "더합니다.",
        ),
        "state_first": Text(
            "The new state stands before the addition that makes it: x1 is x0 + Δ attention.",
            "새 state가 그것을 만드는 덧셈보다 먼저 나옵니다. x1은 x0 + Δ attention의 결과입니다.",
        ),
        "norm_after": Text(
            "There is a norm after an addition, as in Post-Norm. Here a sublayer reads through its "
            "norm, and the sum stays un-normalised until the Final Norm behind the last block.",
            "덧셈 뒤에 norm이 있습니다. 그것은 Post-Norm입니다. 여기서는 sublayer가 norm을 거쳐 "
            "읽을 뿐, 더한 값은 마지막 block 뒤의 Final Norm까지 정규화되지 않은 채 흐릅니다.",
        ),
        "last_norm": Text(
            "The last node is the Final Norm, one for the whole stack. A norm after each add "
            "would be Post-Norm, a different block.",
            "마지막 node는 stack 전체에 하나 있는 Final Norm입니다. 더할 때마다 norm을 두는 것은 "
            "Post-Norm이라는 다른 block입니다.",
        ),
        "half_repeated": Text(
            "Only half a block is repeated. Attention and FFN belong to the same block, and the "
            "pair repeats together, with new weights each time.",
            "block의 절반만 반복하고 있습니다. Attention과 FFN은 한 block의 두 부분이고, 매번 새 "
            "weight를 가지고 함께 반복됩니다.",
        ),
        "final_inside": Text(
            "The Final Norm stands before the repeat, as if each block had one. It comes once, "
            "after all blocks, in front of the LM head.",
            "Final Norm이 반복보다 앞에 있어서 block마다 하나씩 있는 셈이 됩니다. 모든 block이 "
            "끝난 뒤, LM head 앞에 한 번만 옵니다.",
        ),
        "upwards": Text(
            "The order is upside down. Many papers draw the input at the bottom; the list starts "
            "with x0.",
            "순서가 거꾸로입니다. 논문 그림에는 입력이 맨 아래에 있는 것이 많지만, 이 목록은 "
            "x0에서 시작합니다.",
        ),
    },
    apart=(
        frozenset({"norm_after", "last_norm"}),
        frozenset({"norm_after", "half_repeated", "final_inside"}),
    ),
)


def _growth_by_hand(wrong: Wrong) -> list[float]:
    lengths = (11, 19) if "one_less" in wrong else (12, 20)
    squares = (0.6, 0.6 / 20**0.5) if "not_squared" in wrong else (0.36, 0.36 / 20)
    if "by_depth" in wrong:
        squares = (squares[0], squares[1] / 20)
    if "unscaled" in wrong:
        squares = (squares[0], squares[0])
    alone = 0.5 ** lengths[0]
    scalars, *randoms = (
        _product(rate, length, wrong)
        for rate, length in zip((0.5, *squares), (*lengths, lengths[1]), strict=True)
    )
    if "norm" in wrong:
        randoms = [square**0.5 for square in randoms]
    alone = 0.0 if "vanished" in wrong else alone
    pair = [scalars, alone] if "swapped" in wrong else [alone, scalars]
    return [*pair, *randoms]


def _product(rate: float, length: int, wrong: Wrong) -> float:
    """The growth over all sublayers with the add, where each grows by 1 + rate."""
    if "bounded" in wrong:
        return 1.0
    if "no_identity" in wrong:
        return rate**length
    return 1 + length * rate if "summed" in wrong else (1 + rate) ** length


growth_by_hand = Misconceptions(
    _growth_by_hand,
    {
        "no_identity": Text(
            "With the add, a sublayer's Jacobian is I + J. These are the numbers of J alone, as if "
            "nothing had been added.",
            "더하는 경우의 Jacobian은 I + J입니다. 이 값들은 더하지 않은 것처럼 J만으로 구한 "
            "것입니다.",
        ),
        "bounded": Text(
            "The identity in I + J keeps a path open; it does not hold the product at 1. Each "
            "factor is a little larger than 1, and many of them multiply to a lot.",
            "I + J의 I는 길을 열어 둘 뿐, 곱을 1로 붙들어 두지는 않습니다. 1보다 조금씩 큰 수도 "
            "여러 번 곱하면 커집니다.",
        ),
        "summed": Text(
            "The growth was added up over the sublayers (1 + L·j). The chain rule multiplies: "
            "(1 + j)^L.",
            "sublayer마다의 증가분을 더했습니다(1 + L·j). chain rule은 곱합니다. (1 + j)^L입니다.",
        ),
        "not_squared": Text(
            "s is the size of J; what adds to a squared norm is s². With s = 0.6 a sublayer "
            "multiplies it by 1.36, not by 1.6.",
            "s는 J의 크기이고, norm의 제곱에 더해지는 것은 s²입니다. s = 0.6이면 한 번에 1.6배가 "
            "아니라 1.36배가 됩니다.",
        ),
        "norm": Text(
            "This is the growth of the norm. The question is about the squared norm.",
            "norm이 커지는 배율입니다. 물은 것은 norm의 제곱입니다.",
        ),
        "by_depth": Text(
            "J was divided by L. Divided by √L, its variance s² is divided by L.",
            "J를 L로 나누었습니다. √L로 나누면 분산 s²이 L로 나누어집니다.",
        ),
        "unscaled": Text(
            "The last number ignores the division by √20: s² becomes 0.36 / 20.",
            "마지막 수에 √20으로 나눈 것이 들어가지 않았습니다. s²은 0.36 / 20이 됩니다.",
        ),
        "one_less": Text(
            "One factor is missing: L sublayers give L factors, not L - 1.",
            "인수가 하나 모자랍니다. sublayer가 L개이면 L - 1번이 아니라 L번 곱합니다.",
        ),
        "swapped": Text(
            "The first two are exchanged: the first asks about the stack without the add.",
            "처음 두 수가 서로 바뀌었습니다. 첫 번째가 더하지 않는 쪽입니다.",
        ),
        "vanished": Text(
            "The first number is small, but it is not 0: three significant digits, please.",
            "첫 번째 수는 작지만 0은 아닙니다. 유효숫자 세 자리로 적어 보세요.",
        ),
    },
    apart=(
        frozenset({"no_identity", "bounded", "summed"}),
        frozenset({"bounded", "not_squared"}),
        frozenset({"by_depth", "not_squared"}),
        frozenset({"bounded", "norm"}),
        frozenset({"bounded", "by_depth", "unscaled"}),
    ),
)
