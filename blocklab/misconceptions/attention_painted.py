"""Wrong turns in painting a mask by hand."""

import torch
from torch import Tensor

from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

FULL = torch.ones(5, 5).bool()
CAUSAL = FULL.tril()
UPPER = Text(
    "The triangle is on the other side: each token sees itself and what comes after it. A row is "
    "the token that looks, a column the token that is looked at.",
    "삼각형의 방향이 반대입니다. token마다 자기 자신과 그 뒤를 봅니다. 행은 보는 token, 열은 "
    "보이는 token입니다.",
)
DIAGONAL_OUT = Text(
    "The diagonal is 0: no token sees itself, and the first one sees nothing at all.",
    "대각선이 0입니다. 어떤 token도 자기 자신을 보지 못하고, 첫 token은 볼 것이 하나도 없습니다.",
)
DIAGONAL_ONLY = Text(
    "Each token sees itself alone. Then nothing is passed from token to token.",
    "token마다 자기 자신만 봅니다. 그러면 token 사이에 오가는 정보가 없습니다.",
)
INVERTED = Text(
    "0 and 1 are exchanged: 1 means that the token may be looked at, 0 that it may not.",
    "0과 1이 바뀌었습니다. 1이 볼 수 있다는 뜻이고, 0이 볼 수 없다는 뜻입니다.",
)
MIRRORED = Text(
    "The picture is mirrored: column 0, the first token, stands at the left.",
    "좌우가 뒤집혔습니다. 첫 token인 0번 열은 왼쪽에 있습니다.",
)


def _painted(flags: dict[str, tuple[Tensor, Text]], right: Tensor) -> Misconceptions:
    """The known wrong pictures of one mask, each a (T, T) mask and what to say to it."""

    def variant(wrong: Wrong) -> str:
        mask = next((mask for flag, (mask, _) in flags.items() if flag in wrong), right)
        return " ".join("".join(str(int(seen)) for seen in row) for row in mask)

    words = {flag: text for flag, (_, text) in flags.items()}
    return Misconceptions(variant, words, apart=(frozenset(words),))


def _block(rows: slice, columns: slice, start: Tensor = CAUSAL, value: bool = True) -> Tensor:
    """The mask `start` with one block of it painted over."""
    mask = start.clone()
    mask[rows, columns] = value
    return mask


SOURCE, TARGET = slice(0, 2), slice(2, 5)
PREFIX = _block(SOURCE, SOURCE)
painted_causal = _painted(
    {
        "upper": (FULL.triu(), UPPER),
        "inverted": (~CAUSAL, INVERTED),
        "diagonal_out": (CAUSAL.tril(-1), DIAGONAL_OUT),
        "diagonal_only": (FULL.tril().triu(), DIAGONAL_ONLY),
        "one_future": (
            FULL.tril(1),
            Text(
                "Each token sees one token too many: the next, which is the one it shall predict.",
                "token마다 하나를 더 봅니다. 바로 다음 token, 곧 예측해야 할 token입니다.",
            ),
        ),
        "bidirectional": (
            FULL,
            Text(
                "Every token sees all of them. That is the bidirectional mask.",
                "모든 token이 전부를 봅니다. 그것은 bidirectional mask입니다.",
            ),
        ),
        "prefix": (
            PREFIX,
            Text(
                "The first token sees the second: that is a prefix mask with a source of two.",
                "첫 token이 둘째 token을 봅니다. 그것은 source가 둘인 prefix mask입니다.",
            ),
        ),
        "window": (
            CAUSAL.triu(-1),
            Text(
                "Each token sees itself and one before it: a window. Causal means all before it.",
                "token마다 자기 자신과 바로 앞 하나만 봅니다. window mask입니다. causal은 그 앞의 "
                "모두를 봅니다.",
            ),
        ),
        "mirrored": (CAUSAL.flip(1), MIRRORED),
        "upside_down": (
            CAUSAL.flip(0),
            Text(
                "The rows are upside down: row 0, the first token, stands at the top.",
                "위아래가 뒤집혔습니다. 첫 token인 0번 행은 맨 위에 있습니다.",
            ),
        ),
    },
    CAUSAL,
)
painted_bidirectional = _painted(
    {
        "inverted": (~FULL, INVERTED),
        "causal": (
            CAUSAL,
            Text(
                "That is the causal mask: no token sees a later one. Bidirectional means both "
                "ways.",
                "그것은 causal mask입니다. 뒤의 token을 보지 못합니다. bidirectional은 양쪽을 "
                "모두 본다는 뜻입니다.",
            ),
        ),
        "upper": (
            FULL.triu(),
            Text(
                "Each token sees itself and what comes after it, but nothing before. Both ways!",
                "token마다 자기 자신과 그 뒤는 보지만 앞은 보지 못합니다. 양쪽을 모두 봐야 합니다.",
            ),
        ),
        "diagonal_out": (
            ~FULL.tril().triu(),
            Text(
                "Each token sees all others but not itself. BERT's tokens see themselves too.",
                "token마다 나머지는 다 보지만 자기 자신은 보지 못합니다. BERT의 token은 자기 "
                "자신도 봅니다.",
            ),
        ),
        "diagonal_only": (FULL.tril().triu(), DIAGONAL_ONLY),
        "neighbours": (
            FULL.tril(1).triu(-1),
            Text(
                "Each token sees itself and its neighbours only. Bidirectional attention reaches "
                "all.",
                "token마다 자기 자신과 바로 옆의 이웃만 봅니다. bidirectional attention은 전부에 "
                "닿습니다.",
            ),
        ),
        "prefix": (
            PREFIX,
            Text(
                "That is a prefix mask: only the first two tokens see one another.",
                "그것은 prefix mask입니다. 처음 두 token만 서로를 봅니다.",
            ),
        ),
        "last_row": (
            _block(slice(4, 5), slice(0, 5), ~FULL),
            Text(
                "Only the last token sees anything. Every row is a token that looks.",
                "마지막 token만 무언가를 봅니다. 행마다 보는 token이 하나씩 있습니다.",
            ),
        ),
    },
    FULL,
)
painted_prefix = _painted(
    {
        "causal": (
            CAUSAL,
            Text(
                "That is the plain causal mask: source token 0 does not see source token 1.",
                "그것은 causal mask 그대로입니다. source의 0번 token이 1번 token을 보지 못합니다.",
            ),
        ),
        "bidirectional": (
            FULL,
            Text(
                "Everything is allowed: the target would see the words it shall produce.",
                "전부 허용되어 있습니다. target이 자기가 만들어 낼 단어를 미리 봅니다.",
            ),
        ),
        "longer": (
            _block(slice(0, 3), slice(0, 3)),
            Text(
                "The source is three tokens long here; it is the first two.",
                "여기서는 source가 세 token입니다. source는 처음 두 token입니다.",
            ),
        ),
        "source_apart": (
            _block(TARGET, SOURCE, PREFIX, False),
            Text(
                "The target does not see the source. That is what the source is there for.",
                "target이 source를 보지 못합니다. source는 target이 읽으라고 있는 것입니다.",
            ),
        ),
        "source_only": (
            _block(TARGET, TARGET, PREFIX, False),
            Text(
                "The target sees the source, but neither itself nor the target before it. As in a "
                "cross-attention; in one sequence it sees both.",
                "target이 source는 보지만 자기 자신과 앞선 target은 보지 못합니다. "
                "cross-attention이라면 그렇지만, 한 시퀀스에서는 둘 다 봅니다.",
            ),
        ),
        "target_both_ways": (
            _block(TARGET, TARGET, PREFIX),
            Text(
                "The target tokens see later target tokens. Among themselves they are causal.",
                "target token이 뒤의 target token을 봅니다. target끼리는 causal입니다.",
            ),
        ),
        "source_sees_target": (
            _block(SOURCE, slice(0, 5)),
            Text(
                "The source tokens see the target. The source is read before the target exists.",
                "source token이 target을 봅니다. source는 target이 생기기 전에 읽힙니다.",
            ),
        ),
        "columns": (
            PREFIX.T,
            Text(
                "Rows and columns are exchanged: a row is the token that looks.",
                "행과 열이 바뀌었습니다. 행이 보는 token입니다.",
            ),
        ),
        "inverted": (~PREFIX, INVERTED),
        "diagonal_out": (PREFIX & ~FULL.tril().triu(), DIAGONAL_OUT),
        "at_the_end": (
            _block(slice(3, 5), slice(3, 5)),
            Text(
                "The last two tokens see one another. A prefix stands at the front.",
                "마지막 두 token이 서로를 봅니다. prefix는 앞에 놓입니다.",
            ),
        ),
    },
    PREFIX,
)
SIX = torch.ones(6, 6).bool()
WINDOW = SIX.tril().triu(-2)
painted_window = _painted(
    {
        "causal": (
            SIX.tril(),
            Text(
                "Every token sees all that came before it: that is the causal mask. With a window, "
                "token 3 no longer sees token 0.",
                "token마다 앞에 온 모두를 봅니다. 그것은 causal mask입니다. window라면 3번 token은 "
                "0번 token을 더는 보지 못합니다.",
            ),
        ),
        "narrower": (
            SIX.tril().triu(-1),
            Text(
                "A token sees itself and one before it: a window of two. Here it sees two before.",
                "자기 자신과 바로 앞 하나만 봅니다. 폭이 2인 window입니다. 여기서는 앞의 둘을 "
                "봅니다.",
            ),
        ),
        "wider": (
            SIX.tril().triu(-3),
            Text(
                "A token sees itself and three before it: a window of four. The token itself is "
                "one of the three.",
                "자기 자신과 앞의 셋을 봅니다. 폭이 4인 window입니다. 폭 3에는 자기 자신도 "
                "들어갑니다.",
            ),
        ),
        "both_sides": (
            SIX.tril(1).triu(-1),
            Text(
                "The window is centred: a token sees the one after it, which it shall predict. The "
                "window must end at the token itself.",
                "window의 가운데에 자기 자신이 있습니다. 그러면 예측해야 할 다음 token까지 봅니다. "
                "window는 자기 자신에서 끝나야 합니다.",
            ),
        ),
        "wide_both_sides": (
            SIX.tril(2).triu(-2),
            Text(
                "A token sees two to both sides. It sees the two before it only: the window is "
                "causal as well.",
                "앞뒤로 둘씩 봅니다. 앞의 둘만 봐야 합니다. window mask도 causal입니다.",
            ),
        ),
        "forward": (
            SIX.triu().tril(2),
            Text(
                "The window lies on the other side: a token sees itself and the two after it. A "
                "row is the token that looks.",
                "window가 반대쪽에 있습니다. 자기 자신과 뒤의 둘을 봅니다. 행이 보는 token입니다.",
            ),
        ),
        "diagonal_out": (
            SIX.tril(-1).triu(-2),
            Text(
                "The two before it are there, but no token sees itself, and the first one sees "
                "nothing at all.",
                "앞의 둘은 맞지만 어떤 token도 자기 자신을 보지 못하고, 첫 token은 볼 것이 하나도 "
                "없습니다.",
            ),
        ),
        "shifted": (
            SIX.tril(-1).triu(-3),
            Text(
                "The three before a token, without itself. Its own place is one of the three.",
                "자기 자신을 뺀 앞의 셋입니다. 자기 자리도 셋 가운데 하나입니다.",
            ),
        ),
        "blocks": (
            torch.block_diag(SIX[:3, :3], SIX[:3, :3]).tril().bool(),
            Text(
                "Two texts of three tokens, each causal: that is packing. A window moves along "
                "with the token, so token 3 sees 1 and 2 as well.",
                "token 셋짜리 글 두 개이고 저마다 causal입니다. 그것은 packed mask입니다. window는 "
                "token을 따라 움직이므로 3번 token은 1번과 2번도 봅니다.",
            ),
        ),
        "first_rows_empty": (
            WINDOW & (torch.arange(6) >= 2)[:, None],
            Text(
                "The first two tokens see nothing. Where a window reaches beyond the beginning, it "
                "is shorter: token 0 sees itself.",
                "처음 두 token이 아무것도 보지 못합니다. window가 글의 시작을 넘어가면 그만큼 "
                "짧아질 뿐입니다. 0번 token은 자기 자신을 봅니다.",
            ),
        ),
        "first_rows_full": (
            WINDOW | (torch.arange(6) < 2)[:, None] & (torch.arange(6) < 3),
            Text(
                "The first two rows have three as well, and so see later tokens. A window at the "
                "beginning is shorter.",
                "처음 두 행도 셋을 채우느라 뒤의 token을 봅니다. 글이 시작되는 곳에서는 window가 "
                "짧습니다.",
            ),
        ),
        "sink": (
            WINDOW | (torch.arange(6) == 0),
            Text(
                "Every token sees token 0 as well. Some models keep such an attention sink; a "
                "plain window does not.",
                "모든 token이 0번 token까지 봅니다. 이런 attention sink를 남겨 두는 모델도 있지만, "
                "단순한 window에는 없습니다.",
            ),
        ),
        "diagonal_only": (SIX.tril().triu(), DIAGONAL_ONLY),
        "inverted": (~WINDOW, INVERTED),
        "mirrored": (WINDOW.flip(1), MIRRORED),
    },
    WINDOW,
)
