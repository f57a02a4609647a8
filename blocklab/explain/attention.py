"""Attention, one query at a time: scores, mask, weights, and the mix of values that comes out.

The vectors come from lecture 03's matrices, and three of the words are those it computes by hand.
"""

import torch

from blocklab.explain.attention_picture import Look, picture
from blocklab.explain.knobs import Explained, Menu, Sight, Slider, Switch, sentences
from blocklab.figures.attention_masks import prefix_mask
from blocklab.reference.attention import attention_weights, causal_mask
from blocklab.text import Text, both

WORDS = {
    "I": ("나는", (1, 0, 0, 1)),
    "today": ("오늘", (0, 0, 0, 1)),
    "warm": ("따뜻한", (0, 0.5, 0, 1)),
    "rice": ("밥을", (0, 1, 0, 1)),
    "happily": ("맛있게", (0, 0, 0.5, 1)),
    "ate": ("먹었다", (0, 0, 1, 1)),
}  # in Korean, and how much of: someone who does, what it is done to, an action, a word
ORDERS = {
    "korean": ("I", "today", "warm", "rice", "happily", "ate"),
    "english": ("today", "I", "happily", "ate", "warm", "rice"),
}
W_Q = torch.tensor([[0, 0, 2, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 1, 0, 0.0]])
W_K = torch.diag(torch.tensor([2, 2, 2, 1.0]))
W_V = torch.tensor([[4, 0], [0, 4], [2, 2], [0, 0.0]])
T, GIVEN = len(WORDS), 4
MASKS = {
    "causal": causal_mask(T),
    "bidirectional": torch.ones(T, T, dtype=torch.bool),
    "prefix": prefix_mask(T, GIVEN),
}


def draw(order: str, query: str, mask: str, root: bool, scale: float) -> Sight:
    """What the word `query` takes from each word, with all scores multiplied by `scale`."""
    seen = look(order, query, mask, scale if root else scale * W_Q.shape[1] ** 0.5)
    return Sight(picture(seen, root), _sentence(seen))


def look(order: str, query: str, mask: str, scale: float) -> Look:
    """What the word `query` sees where its scores are q · k / √d_head times `scale`."""
    words = ORDERS[order]
    x = torch.tensor([WORDS[word][1] for word in words])
    q, k = scale * x @ W_Q, x @ W_K
    asks = words.index(query)
    return Look(
        names=[_name(word, order) for word in words],
        asks=asks,
        scores=(q @ k.T)[asks] / W_Q.shape[1] ** 0.5,
        allowed=MASKS[mask][asks],
        weights=attention_weights(q, k, MASKS[mask])[asks],
        unmasked=attention_weights(q, k)[asks],
        values=x @ W_V,
    )


def _name(word: str, order: str) -> Text:
    """How a word stands in a sentence of that order; a Korean word is explained in English."""
    korean = WORDS[word][0]
    if order == "korean":
        return Text(f"{korean} ({word})", korean)
    return both(word.capitalize() if word == ORDERS[order][0] else word)


def _sentence(look: Look) -> Text:
    if int(look.allowed.sum()) == 1:
        first = Text(
            "{query} may look at nothing but itself: weight 1, whatever the score.",
            "{query}에게 보이는 것은 자기 자신뿐입니다. score가 얼마든 weight는 1입니다.",
        ).fill(query=_quoted(look.names[look.asks]))
    else:
        first = _favourites(look)
    return sentences(first, _taken_away(look))


def _favourites(look: Look) -> Text:
    weights, seen = look.weights, int(look.allowed.sum())
    best = (weights > weights.max() - 1e-6).nonzero().flatten().tolist()
    spread = float(torch.special.entr(weights).sum().exp())
    if len(best) == seen:
        most = Text(
            "{query} takes the same from all {seen} tokens it may look at: a plain average.",
            "{query}의 결과는 볼 수 있는 token {seen}개의 단순 평균입니다.",
        )
    else:
        most = Text(
            "{query} takes most from {best}, weight {weight}{each}. The weights are spread as "
            "if {spread} of the {seen} tokens it may look at had equal shares.",
            "{query}의 결과에 가장 많이 섞이는 token은 {best}입니다(weight {each}{weight}). "
            "weight가 퍼진 정도는 볼 수 있는 token {seen}개 중 {spread}개에 똑같이 나눈 것과 "
            "같습니다.",
        )
    return most.fill(
        query=_quoted(look.names[look.asks]),
        best=_listed([look.names[j] for j in best]),
        weight=f"{float(weights.max()):.2f}",
        each=Text(" each", "각각 ") if len(best) > 1 else both(""),
        spread=f"{spread:.1f}",
        seen=seen,
    )


def _taken_away(look: Look) -> Text:
    if bool(look.allowed.all()):
        return Text("The mask hides nothing from it.", "mask에 가려진 token은 없습니다.")
    hidden = [name for name, may in zip(look.names, look.allowed.tolist(), strict=True) if not may]
    return Text(
        "The mask hides {hidden}; without it {share} % of the weight would go there.",
        "mask에 가려진 token은 {hidden}입니다. mask가 없다면 weight의 {share} %가 그리로 갑니다.",
    ).fill(hidden=_listed(hidden), share=f"{100 * float(look.unmasked[~look.allowed].sum()):.0f}")


def _quoted(name: Text) -> Text:
    return Text("‘{name}’", "‘{name}’").fill(name=name)


def _listed(names: list[Text]) -> Text:
    quoted = [_quoted(name) for name in names]
    *some, last = (name.en for name in quoted)
    english = f"{', '.join(some)} and {last}" if some else last
    return Text(english, ", ".join(name.ko for name in quoted))


ATTENTION = Explained(
    "attention",
    Text("What one token takes from the others", "한 token이 다른 token에서 가져오는 것"),
    (
        Menu(
            "order",
            Text("Sentence", "문장"),
            {
                "korean": both("나는 오늘 따뜻한 밥을 맛있게 먹었다"),
                "english": both("Today I happily ate warm rice"),
            },
            "korean",
        ),
        Menu(
            "query",
            Text("The token that looks", "보는 token"),
            {word: Text(f"{word} · {ko}", f"{ko} · {word}") for word, (ko, _) in WORDS.items()},
            "ate",
        ),
        Menu(
            "mask",
            both("Mask"),
            {
                "causal": Text("causal (GPT, Llama)", "causal(GPT, Llama)"),
                "bidirectional": Text("bidirectional (BERT)", "bidirectional(BERT)"),
                "prefix": Text(
                    f"prefix: the first {GIVEN} are given", f"prefix: 처음 {GIVEN}개는 주어진 token"
                ),
            },
            "causal",
        ),
        Switch("root", Text("Divide scores by √d_head = 2", "score를 √d_head = 2로 나누기"), True),
        Slider("scale", Text("All scores times", "모든 score에 곱할 수"), 0.0, 3.0, 0.25, 1.0),
    ),
    draw,
)
