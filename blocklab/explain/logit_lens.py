"""The logit lens on a small trained decoder: what each state would say next.

The numbers were recorded by blocklab/lab/lens_record.py, from the decoder of lecture 05.
"""

import json
from pathlib import Path

from blocklab.explain.knobs import Explained, Sight, Slider, Switch, sentences
from blocklab.explain.logit_lens_picture import Lens, Place, picture, state_name, visible
from blocklab.text import Text


def _recorded() -> Lens:
    record = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    states = [[Place(**place) for place in state] for state in record["states"]]
    return Lens(record["read"], record["following"], states)


LENS = _recorded()
T, LAST = len(LENS.read), len(LENS.states) - 1


def draw(position: int, state: int, settled: bool) -> Sight:
    """The lens on one position, from 1, after one state, the embedding being 0."""
    t = position - 1
    return Sight(picture(LENS, t, state, settled), _sentence(t, state))


def _sentence(t: int, state: int) -> Text:
    return sentences(_now(t, state), _answer(t), _text(t))


def _now(t: int, state: int) -> Text:
    if state == LAST:
        said = Text("After “…{read}”:", "“…{read}”까지 읽었을 때:")
    else:
        said = Text(
            "After “…{read}” the {state} favours ‘{word}’ ({chance} %).",
            "“…{read}”까지 읽었을 때 {state}에서 가장 유력한 글자는 ‘{word}’입니다({chance} %).",
        )
    return said.fill(
        read=visible(LENS.read[: t + 1]),
        state=_state(state),
        word=visible(LENS.says(state, t)),
        chance=f"{100 * LENS.states[state][t].chances[0]:.0f}",
    )


def _state(state: int) -> Text:
    if state == 0:
        return state_name(state)
    return Text("state after {name}", "{name} 뒤의 state").fill(name=state_name(state))


def _answer(t: int) -> Text:
    """What the last state says, and since when that is settled."""
    first = settled_from(LENS, t)
    if first == LAST:
        since = Text(
            "which was not the favourite one block earlier",
            "한 block 앞에서는 다른 글자가 더 유력했습니다",
        )
    else:
        since = Text(
            "the favourite since {state}", "{state}부터 줄곧 가장 유력한 글자였습니다"
        ).fill(state=state_name(first))
    return Text(
        "The last state says ‘{word}’ ({chance} %), {since}.",
        "마지막 state의 답은 ‘{word}’({chance} %)이며, {since}.",
    ).fill(
        word=visible(LENS.answer(t)), chance=f"{100 * LENS.states[-1][t].final:.0f}", since=since
    )


def _text(t: int) -> Text:
    if LENS.answer(t) == LENS.following[t]:
        said = Text("The text goes on with ‘{true}’ too.", "실제로 이어지는 글자도 ‘{true}’입니다.")
    else:
        said = Text("But the text goes on with ‘{true}’.", "그러나 실제로는 ‘{true}’입니다.")
    return said.fill(true=visible(LENS.following[t]))


def settled_from(lens: Lens, t: int) -> int:
    """The first state from which on all states favour the last one's answer."""
    first = len(lens.states) - 1
    while first and lens.says(first - 1, t) == lens.answer(t):
        first -= 1
    return first


LOGIT_LENS = Explained(
    "logit_lens",
    Text(
        "The logit lens: what each state would say next",
        "Logit lens: state마다 물어본 다음 글자",
    ),
    (
        Slider(
            "position",
            Text("Characters read", "읽은 글자 수"),
            1,
            len(LENS.read),
            1,
            len(LENS.read),
        ),
        Slider(
            "state",
            Text("Read after block (0: embedding)", "몇 번째 block 뒤에서 읽을까(0: embedding)"),
            0,
            LAST,
            1,
            2,
        ),
        Switch(
            "settled",
            Text(
                "Colour what agrees with the last state", "마지막 state의 답과 같은 칸에 색칠하기"
            ),
            False,
        ),
    ),
    draw,
)
