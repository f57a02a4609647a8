"""What labels make of the arrows they are put on: what would flow, and why that can be or not."""

from collections.abc import Sequence

from blocklab.text import Text, both
from blocklab.widgets.arrows import ARROWS
from blocklab.widgets.readings import Reading

FITS = {"state": "input", "part": "processing", "design": "history"}
MEANS = {
    "state": {
        "input": Text(
            "input. It starts at a state, which is handed on as it is.",
            "input입니다. state에서 출발하고, state를 있는 그대로 건네줍니다.",
        ),
        "processing": Text(
            "processing would mean that something is computed on the way.{follows} But the arrow "
            "starts at a state, and a state computes nothing.",
            "processing이라면 가는 길에 무언가를 계산한다는 뜻이 됩니다.{follows} 그러나 이 "
            "화살표는 state에서 출발하고, state는 아무것도 계산하지 않습니다.",
        ),
        "history": Text(
            "history would mean that nothing flows and {end} only came later.{follows} But {end} "
            "gets a tensor from {start} in the same forward pass.",
            "history라면 흐르는 것은 없고 {end}은(는) 나중에 나왔을 뿐이라는 뜻이 "
            "됩니다.{follows} 그러나 {start}의 값은 같은 forward pass 안에서 {end}에 들어갑니다.",
        ),
        "recurrence": Text(
            "recurrence would mean that {end} gets the {start} of the token before.{follows} But "
            "every token hands on its own {start}, all of them at the same time.",
            "recurrence라면 앞 token에서 나온 {start}의 값이 {end}에 들어간다는 뜻이 "
            "됩니다.{follows} 그러나 모든 token이 동시에 자기 {start}의 값을 건네줍니다.",
        ),
    },
    "part": {
        "input": Text(
            "input would mean that a state passes {start} untouched.{follows} But the arrow "
            "starts at something that computes: what comes out is not what went in.",
            "input이라면 state가 {start}을(를) 그대로 지나간다는 뜻이 됩니다.{follows} 그러나 이 "
            "화살표는 계산하는 것에서 출발합니다. 나오는 것은 들어간 것과 다릅니다.",
        ),
        "processing": Text(
            "processing. It starts at something that computes, and carries the result.",
            "processing입니다. 계산하는 것에서 출발하고, 계산한 결과를 나릅니다.",
        ),
        "history": Text(
            "history would mean that nothing flows and {end} only came later.{follows} But the "
            "result of {start} goes to {end} in the same forward pass.",
            "history라면 흐르는 것은 없고 {end}은(는) 나중에 나왔을 뿐이라는 뜻이 "
            "됩니다.{follows} 그러나 {start}의 결과는 같은 forward pass 안에서 {end}(으)로 "
            "갑니다.",
        ),
        "recurrence": Text(
            "recurrence would mean that what {start} made of the token before goes to "
            "{end}.{follows} But every token goes on with its own result, all of them at the same "
            "time.",
            "recurrence라면 앞 token을 {start}에 넣은 결과가 {end}(으)로 간다는 뜻이 "
            "됩니다.{follows} 그러나 모든 token이 동시에 자기 결과를 가지고 갑니다.",
        ),
    },
    "design": {
        "input": Text(
            "input would mean that {end} reads {start} as a state.{follows} But the arrow starts "
            "at a model or a design, which is no tensor.",
            "input이라면 {end}이(가) {start}을(를) state로 읽는다는 뜻이 됩니다.{follows} 그러나 "
            "이 화살표는 모델이나 설계에서 출발합니다. 모델이나 설계는 tensor가 아닙니다.",
        ),
        "processing": Text(
            "processing would mean that {end} gets what {start} has computed.{follows} But no "
            "forward pass goes through the one into the other.",
            "processing이라면 {start}의 계산 결과가 {end}(으)로 간다는 뜻이 됩니다.{follows} "
            "그러나 하나를 거쳐 다른 하나로 이어지는 forward pass는 없습니다.",
        ),
        "history": Text(
            "history. It starts at a model or a design; {end} came later, and nothing flows.",
            "history입니다. 모델이나 설계에서 출발합니다. {end}이(가) 나중에 나왔을 뿐 흐르는 "
            "것은 없습니다.",
        ),
        "recurrence": Text(
            "recurrence would mean that {start} hands {end} something from token to "
            "token.{follows} But the arrow starts at a model or a design, and tokens do not go "
            "from one to another.",
            "recurrence라면 token이 바뀔 때마다 {start}에서 {end}(으)로 무언가를 넘긴다는 뜻이 "
            "됩니다.{follows} 그러나 이 화살표는 모델이나 설계에서 출발하고, 모델 사이를 오가는 "
            "token은 없습니다.",
        ),
    },
}
UNKNOWN = Text(
    "“{label}” is none of the labels.",
    "“{label}”(이)라는 label은 없습니다.",
)
SAID = both("{number}. {start} → {end}: {means}")
FOLLOWS = both(" {follows}")
NONE_YET = Text("No arrow has a label yet.", "아직 label이 놓인 화살표가 없습니다.")
COUNT = Text(
    "Labels that fit where their arrow starts: {fitting} of the {filled} here.",
    "놓인 label {filled}개 가운데 화살표가 출발하는 곳에 맞는 것: {fitting}개.",
)
SYMBOLS = {
    "f(": Text("f is what would be computed on the way.", "f는 가는 길에 할 계산입니다."),
    "∅": Text("∅: nothing arrives.", "∅는 아무것도 오지 않는다는 뜻입니다."),
    "before(": Text(
        "before(…) is the value of the token before.", "before(…)는 앞 token의 값입니다."
    ),
}


def read_arrows(words: Sequence[str]) -> Reading:
    """The equations that would hold if the labels were right, and a sentence on each label.

    An equation is there once every arrow in it that is asked for has a label.
    """
    filled = [n for n in range(len(ARROWS)) if words[n] != "?"]
    if not filled:
        return Reading((), NONE_YET)
    lines = _equations(words)
    symbols = [says for sign, says in SYMBOLS.items() if any(sign in line for line in lines)]
    fitting = sum(words[n] == FITS[ARROWS[n].start.kind] for n in filled)
    count = COUNT.fill(fitting=fitting, filled=len(filled))
    return Reading(lines, count, [*symbols, *(_said(n, words[n]) for n in filled)])


def _said(place: int, word: str) -> Text:
    """What the label of an arrow means, what would follow, and whether it can be."""
    arrow = ARROWS[place]
    ends = {"start": arrow.start.name, "end": arrow.end.name}
    follows = FOLLOWS.fill(follows=arrow.follows[word]) if word in arrow.follows else ""
    means = MEANS[arrow.start.kind].get(word, UNKNOWN).fill(label=word, follows=follows, **ends)
    return SAID.fill(number=place + 1, means=means, **ends)


def _equations(words: Sequence[str]) -> list[str]:
    """The block and what follows it as the labels would have them, where all of them are known."""

    def carried(place: int, reads: str, part: str = "") -> str:
        return _carried(words[place], reads, part)

    attention = carried(3, carried(2, carried(0, "x₀"), "Norm"), "Attention")
    ffn = carried(5, f"Norm({carried(4, 'x₁')})", "FFN")
    equations = (
        ((0, 1, 2, 3), f"x₁ = {carried(1, 'x₀')} + {attention}"),
        ((4, 5), f"x₂ = x₁ + {ffn}"),
        ((6,), f"block 2: x₀ = {carried(6, 'x₂')}"),
        ((7,), f"logits = {carried(7, 'Norm(x₂)', 'LM head')}"),
    )
    known = {*FITS.values(), "recurrence"}
    return [line for places, line in equations if {words[n] for n in places} <= known]


def _carried(word: str, reads: str, part: str) -> str:
    """What an arrow with that label carries from a part that reads this; part "": from a state."""
    match word:
        case "input":
            return reads
        case "processing":
            return f"{part or 'f'}({reads})"
        case "recurrence":
            return f"before({part}({reads}))" if part else f"before({reads})"
    return "∅"
