"""Wrong turns on the residual stream."""

from blocklab.misconceptions.residual_by_hand import add_by_hand, growth_by_hand, nine_nodes
from blocklab.misconceptions.residual_gradient import ResidualBlock, input_gradient_norm
from blocklab.misconceptions.variants import Misconceptions, Wrong
from blocklab.text import Text

__all__ = [
    "ResidualBlock",
    "add_by_hand",
    "growth_by_hand",
    "input_gradient_norm",
    "nine_nodes",
    "residual_add",
    "run_stream",
    "updates",
]


def _residual_add(wrong: Wrong):
    def residual_add(x, delta):
        if not _accepts(x, delta, wrong):
            raise ValueError("x and delta differ in shape")
        delta = delta.detach() if "detached" in wrong else delta
        if "into_x" in wrong:
            x += delta
        elif "into_delta" in wrong:
            delta += x
            x = delta
        elif "subtracted" in wrong:
            x = x - delta
        elif "averaged" in wrong:
            x = (x + delta) / 2
        else:
            x = delta if "replaced" in wrong else x + delta
        return x.relu() if "relu_after" in wrong else x

    return residual_add


def _accepts(x, delta, wrong: Wrong) -> bool:
    if "last_axis" in wrong:
        return x.shape[-1] == delta.shape[-1]
    if "same_count" in wrong:
        return x.numel() == delta.numel()
    if "same_axes" in wrong:
        return x.dim() == delta.dim()
    return "broadcast" in wrong or x.shape == delta.shape


residual_add = Misconceptions(
    _residual_add,
    {
        "into_x": Text(
            "x += delta writes into x itself. The sublayer may still need that x for its gradient, "
            "and the caller loses the old state. x = x + delta makes a new tensor.",
            "x += delta는 x 자체에 씁니다. 그 x는 sublayer의 gradient에 아직 필요할 수 있고, "
            "호출한 쪽은 이전 state를 잃습니다. x = x + delta는 새 tensor를 만듭니다.",
        ),
        "into_delta": Text(
            "delta += x writes into delta, which belongs to the caller too. Make a new tensor.",
            "delta += x는 delta에 씁니다. delta도 호출한 쪽의 것이니 새 tensor를 만드세요.",
        ),
        "broadcast": Text(
            "Unequal shapes are broadcast without a word. A sublayer that forgot an axis would "
            "write one update into every token.",
            "shape이 달라도 아무 말 없이 broadcast됩니다. 축 하나를 빠뜨린 sublayer가 모든 token에 "
            "똑같은 update를 쓰게 됩니다.",
        ),
        "last_axis": Text(
            "Only the last axis is compared. The other axes can still differ and be broadcast.",
            "마지막 축만 비교했습니다. 나머지 축은 달라도 그대로 broadcast됩니다.",
        ),
        "same_count": Text(
            "Only the number of values is compared: (1, d) and (d, 1) have as many, and broadcast "
            "to (d, d).",
            "값의 개수만 비교했습니다. (1, d)와 (d, 1)은 개수가 같지만 더하면 (d, d)로 "
            "broadcast됩니다.",
        ),
        "same_axes": Text(
            "Only the number of axes is compared: an axis of size 1 is still broadcast.",
            "축의 개수만 비교했습니다. 크기가 1인 축은 여전히 broadcast됩니다.",
        ),
        "replaced": Text(
            "The result is delta: the update has replaced the stream, and x is lost.",
            "결과가 delta입니다. update가 stream을 교체해서 x가 사라졌습니다.",
        ),
        "subtracted": Text(
            "delta is subtracted. The stream adds; a sublayer that wants less writes negatives.",
            "delta를 뺐습니다. stream은 더하기만 합니다. 줄이는 일은 sublayer가 음수를 써서 "
            "합니다.",
        ),
        "averaged": Text(
            "The sum is halved. Over 24 additions x would shrink to 2^-24 of itself.",
            "합을 반으로 나누었습니다. 24번 더하는 동안 x는 원래의 2^-24으로 줄어듭니다.",
        ),
        "relu_after": Text(
            "There is a ReLU after the sum, as in the first ResNet. It sets what is negative to 0, "
            "so x no longer passes unchanged; a Transformer adds and nothing more.",
            "더한 뒤에 ReLU가 있습니다. 초기 ResNet의 방식입니다. 음수가 0이 되어 x가 그대로 "
            "지나가지 못합니다. Transformer는 더하기만 합니다.",
        ),
        "detached": Text(
            "delta is cut out of the graph before it is added: the values are right, but the "
            "sublayer would never learn.",
            "delta를 graph에서 떼어 낸 뒤 더했습니다. 값은 맞지만 sublayer는 아무것도 배우지 "
            "못합니다.",
        ),
    },
    apart=(
        frozenset({"into_x", "into_delta", "replaced", "subtracted", "averaged"}),
        frozenset({"broadcast", "last_axis", "same_count", "same_axes"}),
    ),
)


def _run_stream(wrong: Wrong):
    def run_stream(x0, sublayers):
        x = x0.clone() if "aliased" in wrong else x0
        states, previous = [x0], []
        for n in range(len(sublayers)):
            delta = _delta(n, x0, x, sublayers, wrong)
            previous.append(x)
            x = _next_state(x0, x, delta, wrong)
            states.append(delta if "updates" in wrong else x)
        if "used_up" in wrong:
            sublayers.clear()
        return _kept(states, previous, wrong)

    return run_stream


def _delta(n, x0, x, sublayers, wrong: Wrong):
    if "same_sublayer" in wrong:
        n = 0
    sublayer = sublayers[-1 - n if "backwards" in wrong else n]
    source = x0 if "reads_x0" in wrong else x
    if "twice" in wrong:
        sublayer(source)
    return sublayer(source)


def _next_state(x0, x, delta, wrong: Wrong):
    if "replaced" in wrong:
        x = delta
    elif "onto_x0" in wrong:
        x = x0 + delta
    elif "into_x0" in wrong or "aliased" in wrong:
        x += delta
    else:
        x = x + delta
    return x.detach() if "detached" in wrong else x


def _kept(states, previous, wrong: Wrong):
    if "late" in wrong:
        return [states[0], *previous]
    if "no_first" in wrong:
        return states[1:]
    if "no_last" in wrong:
        return states[:-1]
    return states[-1] if "only_last" in wrong else states


run_stream = Misconceptions(
    _run_stream,
    {
        "replaced": Text(
            "Each sublayer's output becomes the next state. It is an update: add it to the state.",
            "sublayer의 출력이 곧바로 다음 state가 됩니다. 그것은 update입니다. state에 더하세요.",
        ),
        "onto_x0": Text(
            "Each update is added to x0 instead of the state just before it, so that what earlier "
            "sublayers wrote is lost.",
            "update를 바로 앞 state가 아니라 x0에 더합니다. 앞 sublayer들이 쓴 것이 사라집니다.",
        ),
        "reads_x0": Text(
            "Every sublayer reads x0. Then they all run side by side, and none can build on what "
            "another wrote.",
            "모든 sublayer가 x0을 읽습니다. 그러면 나란히 계산될 뿐, 앞에서 쓴 것을 이어받지 "
            "못합니다.",
        ),
        "into_x0": Text(
            "x += … writes into x0 itself: all states in the list are one and the same tensor.",
            "x += …는 x0 자체에 씁니다. list에 든 state가 모두 같은 tensor 하나가 됩니다.",
        ),
        "aliased": Text(
            "x0 is safe in its copy, but x += … goes on writing into that copy, and the list holds "
            "it many times. Each state needs a tensor of its own: x = x + ….",
            "x0은 복사해서 지켰지만, x += …가 그 복사본에 계속 써서 list에 같은 tensor가 여러 번 "
            "들어갑니다. state마다 새 tensor가 필요합니다: x = x + ….",
        ),
        "updates": Text(
            "The list holds what each sublayer wrote, not the states that come of it.",
            "list에 든 것이 state가 아니라 sublayer가 쓴 update입니다.",
        ),
        "late": Text(
            "Each state is noted before the addition: x0 stands there twice, and x_L is missing.",
            "더하기 전에 state를 기록했습니다. x0이 두 번 들어가고 x_L이 빠집니다.",
        ),
        "no_first": Text(
            "x0 is missing. L sublayers have L + 1 states between and around them.",
            "x0이 빠졌습니다. sublayer가 L개이면 그 사이와 양 끝에 state가 L + 1개 있습니다.",
        ),
        "no_last": Text(
            "The last state is missing, the one that the rest of the model reads.",
            "마지막 state가 빠졌습니다. 모델의 나머지 부분이 읽는 바로 그 state입니다.",
        ),
        "only_last": Text(
            "This is the last state alone. All L + 1 of them are asked for, in a list.",
            "마지막 state만 돌려주었습니다. L + 1개를 모두 list로 돌려주세요.",
        ),
        "backwards": Text(
            "The sublayers run from last to first.",
            "sublayer를 마지막 것부터 거꾸로 실행했습니다.",
        ),
        "same_sublayer": Text(
            "The same sublayer runs each time. Every one of them has weights of its own.",
            "매번 같은 sublayer를 실행했습니다. sublayer는 저마다 자기 weight를 가집니다.",
        ),
        "used_up": Text(
            "The caller's list of sublayers is empty afterwards (pop or clear). Loop over it.",
            "호출한 쪽의 sublayer list가 비어 버립니다(pop이나 clear). for로 돌기만 하세요.",
        ),
        "detached": Text(
            "The states are cut out of the graph (detach, no_grad): the values are right, but "
            "nothing could be learned through them.",
            "state들이 graph에서 떨어져 나갔습니다(detach, no_grad). 값은 맞지만 이 경로로는 "
            "아무것도 학습되지 않습니다.",
        ),
        "twice": Text(
            "A sublayer is called more than once for the same state. That doubles the work, and "
            "with dropout the two calls would not even agree. Keep the result.",
            "같은 state에 대해 sublayer를 두 번 이상 호출합니다. 계산이 두 배가 되고, dropout이 "
            "있으면 두 결과가 서로 다르기까지 합니다. 결과를 변수에 담아 두세요.",
        ),
    },
    apart=(
        frozenset({"replaced", "onto_x0", "into_x0", "aliased"}),
        frozenset({"updates", "late"}),
        frozenset({"late", "no_first", "no_last", "only_last"}),
        frozenset({"backwards", "same_sublayer"}),
    ),
)


def _updates(wrong: Wrong):
    def updates(states):
        before, after = states[:-1], states[1:]
        if "two_apart" in wrong:
            before, after = states[:-2], states[2:]
        if "from_x0" in wrong:
            before = [states[0]] * len(after)
        if "around" in wrong:
            before, after = [*before, states[-1]], [*after, states[0]]
        if "in_total" in wrong:
            before, after = states[:1], states[-1:]
        if "into_states" in wrong:
            for n in reversed(range(1, len(states))):
                states[n] -= states[n - 1]
            return states[1:]
        found = [b - a if "negated" in wrong else a - b for b, a in zip(before, after, strict=True)]
        if "states" in wrong:
            found = list(after)
        if "sizes" in wrong:
            return [float(delta.norm()) for delta in found]
        if "relative" in wrong:
            found = [delta / a.norm() for delta, a in zip(found, before, strict=True)]
        if "with_x0" in wrong:
            found = [states[0], *found]
        return found[::-1] if "backwards" in wrong else found

    return updates


updates = Misconceptions(
    _updates,
    {
        "from_x0": Text(
            "Each difference is taken to x0. That is everything written so far; one sublayer's "
            "update is the difference to the state just before it.",
            "차이를 x0부터 구했습니다. 그것은 지금까지 쓰인 것 전부입니다. sublayer 하나의 "
            "update는 바로 앞 state와의 차이입니다.",
        ),
        "negated": Text(
            "The sign is turned: before minus after. What was written is after minus before.",
            "부호가 반대입니다. 쓰인 것은 뒤 state에서 앞 state를 뺀 것입니다.",
        ),
        "states": Text(
            "These are the states themselves, without x0; what was added to get there is asked "
            "for.",
            "맨 앞의 x0만 제외한 state 자체입니다. 물은 것은 그렇게 되기까지 더해진 값입니다.",
        ),
        "with_x0": Text(
            "x0 stands in front. No sublayer wrote it, it is what the embedding put there.",
            "맨 앞에 x0이 있습니다. x0은 sublayer가 쓴 것이 아니라 embedding이 놓은 것입니다.",
        ),
        "in_total": Text(
            "This is the total, last state minus x0. Asked for: what each sublayer added to it.",
            "마지막 state에서 x0을 뺀 합계입니다. 물은 것은 sublayer 하나하나의 몫입니다.",
        ),
        "two_apart": Text(
            "The states compared are two steps apart, so two updates are mixed in each.",
            "두 단계 떨어진 state끼리 비교했습니다. 한 값에 update 두 개가 섞여 있습니다.",
        ),
        "around": Text(
            "One difference too many: x0 minus the last state. Nothing leads from the end back to "
            "the start (this is what torch.roll or states[n - 1] at n = 0 gives).",
            "update가 하나 많습니다. x0에서 마지막 state를 뺀 것입니다. 끝에서 처음으로 이어지는 "
            "길은 없습니다 (torch.roll이나 n = 0일 때의 states[n - 1]이 이렇게 합니다).",
        ),
        "backwards": Text(
            "The updates are in reverse order.",
            "update의 순서가 거꾸로입니다.",
        ),
        "sizes": Text(
            "These are the lengths of the updates. The updates themselves are tensors.",
            "update의 크기(norm)입니다. 물은 것은 update tensor 자체입니다.",
        ),
        "relative": Text(
            "Each update is divided by the size of the state. A useful measure, but then the "
            "updates no longer sum to x_L - x_0.",
            "update를 state의 크기로 나누었습니다. 쓸모 있는 값이지만, 그러면 모두 더해도 x_L - "
            "x_0이 되지 않습니다.",
        ),
        "into_states": Text(
            "The subtraction writes into the states (-=). The updates are right, the states are "
            "gone.",
            "빼면서 state에 직접 썼습니다(-=). update는 맞지만 state들이 사라졌습니다.",
        ),
    },
    apart=(
        frozenset({"from_x0", "in_total", "two_apart", "around", "into_states"}),
        frozenset({"states", "negated", "relative", "in_total", "into_states"}),
        frozenset({"sizes", "relative", "with_x0", "into_states"}),
        frozenset({"into_states", "backwards"}),
    ),
)
