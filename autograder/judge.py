"""The judge: checks run here, in the grader's process, and the learner's kernel only answers.

It takes the place of nbgrader's Execute, so `nbgrader autograde`, the formgrader's button and
`python run.py grade` all grade in the same way.
"""

import atexit
import contextlib
import copy
import dataclasses
import functools
import gc
import hashlib
import hmac
import json
import queue
import re
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async, run_sync
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import Execute
from traitlets import Enum, Float, Unicode

from autograder.candidate import REQUEST, KernelCandidate, asked, reply_text
from autograder.kernel import Sandbox
from autograder.plain_tests import is_plain_test, settle
from blocklab import catalogue
from blocklab.checks.examine import examine, unanswered
from blocklab.checks.report import Report
from blocklab.plain import words
from blocklab.text import Text, visible

DIED = Text(
    "The kernel died while it answered (a crash, an exit, or too much memory). The cells before "
    "keep their points.",
    "답하던 kernel이 죽었습니다(crash, exit, 또는 메모리 초과). 앞의 셀들이 받은 점수는 "
    "그대로입니다.",
)
SLOW = Text(
    "There was no answer within {seconds:g} seconds. Is there a loop that never ends?",
    "{seconds:g}초 안에 결과가 나오지 않았습니다. 끝나지 않는 반복이 있나요?",
)
UNREADABLE = Text(
    "What came back is no answer to this check ({why}).",
    "돌아온 것이 이 check의 답이 아닙니다({why}).",
)
ENDED = Text(
    "The cell with the answer ended with {error}.", "답이 있는 셀이 {error} 오류로 끝났습니다."
)
TIMED_OUT = Text(
    "The cell with the answer did not end in time, and was stopped.",
    "답이 있는 셀이 제시간에 끝나지 않아 중단했습니다.",
)
UNWALLED = Text(
    "Graded without isolation: the learner's code ran with the grader's own rights.",
    "격리 없이 채점했습니다. 학습자의 코드가 채점자의 권한으로 실행되었습니다.",
)
TOO_MUCH = Text(
    "What this cell showed is left out: the cells before it have shown {most:,} bytes already.",
    "이 셀의 출력은 뺐습니다. 앞의 셀들이 이미 {most:,}바이트를 출력했습니다.",
)
OWN_KERNEL = Text(
    "This test ran in the learner's own kernel.", "이 테스트는 학습자의 kernel에서 실행했습니다."
)
SHOWN = 16 << 20  # bytes of outputs that a graded notebook keeps
SAME = 100  # displays under one name that an update changes
HELPERS = re.compile(
    r"""\s*(check|explain|hint|progress|self_check|solution)\((["']\w*["'])?\)\s*"""
)
_CHECK = re.compile(r"""\s*check\((["'])(\w+)\1\)\s*""")


class NoAnswerError(Exception):
    """A kernel that lives but does not answer."""


class Judge(Execute):
    """Executes a submission, and judges its checks itself.

    A kernel that dies or hangs costs the cell it did so in. A new one runs the cells again that
    had ended well, and the rest is graded.
    """

    secret_file = Unicode("", help="a file whose content makes the inputs unpredictable").tag(
        config=True
    )
    isolation = Enum(
        ["bwrap", "none"], "bwrap", help="what walls the learner's kernel in; none: nothing does"
    ).tag(config=True)
    replay_timeout = Float(120.0, help="seconds to run cells again in new kernels, in all").tag(
        config=True
    )
    check_timeout = Float(30.0, help="seconds that a kernel has to answer a check").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any = None, km: Any = None) -> Any:
        self._submission = _digest(nb)
        self._language = language_of(nb)
        self._student = resources.get("nbgrader", {}).get("student", "")
        self._unit = _unit(nb)
        self._replays, self._room = self.replay_timeout, SHOWN
        self._well: dict[int, NotebookNode] = {}  # the cells that ended well, by their place
        return super().preprocess(nb, resources, km)

    def create_kernel_manager(self) -> Any:
        self.km = sandbox(self._unit, self.isolation).kernel_manager()
        return self.km

    def preprocess_cell(self, cell: NotebookNode, resources: Any, index: int) -> Any:
        if name := check_name(cell):
            cell.outputs = [self._judged(name)]
            cell.execution_count = None
        elif cell.cell_type == "code" and not is_helper(cell):
            self._run(cell, resources, index)
            if is_plain_test(cell):
                settle(cell)
                said = OWN_KERNEL.to(self._language)
                cell.outputs.append(new_output("display_data", {"text/plain": said}))
            writable = mapped(cell.outputs, lambda said: words(said, most=None))
            cell.outputs = self._kept(writable, index)
        return cell, resources

    def _kept(self, outputs: list[NotebookNode], index: int) -> list[NotebookNode]:
        """The outputs of a cell, or where the notebook has no room for them, a word on that."""
        size = len(json.dumps(outputs))
        if size <= self._room:
            self._room -= size
            return outputs
        self.clear_display_id_mapping(index)
        said = TOO_MUCH.fill(most=SHOWN).to(self._language)
        return [new_output("stream", name="stdout", text=said)]

    def _update_display_id(self, display_id: str, msg: dict[str, Any]) -> None:
        """As nbclient does, unless so many displays have one name that it takes for ever."""
        if sum(map(len, self._display_id_map.get(display_id, {}).values())) <= SAME:
            super()._update_display_id(display_id, msg)

    def _run(self, cell: NotebookNode, resources: Any, index: int) -> None:
        """Run a cell of the learner's; whatever it does to its kernel, the next one has one."""
        try:
            super().preprocess_cell(cell, resources, index)
        except (DeadKernelError, CellTimeoutError) as error:
            cell.outputs.append(_error(error))
            self._renew()
        else:
            names = [output.get("ename") for output in cell.outputs]
            if "CellTimeoutError" in names and not self._answers():
                self._renew()
            elif cell.source.strip() and not any(names):
                self._well[index] = cell

    def _judged(self, name: str) -> NotebookNode:
        """The report of a check, as the output of its cell."""
        seed = self._seed(name)
        try:
            report = self._examined(name, seed)
        except Exception as error:  # a reply made to break the judge breaks its own check only
            why = UNREADABLE.fill(why=f"{type(error).__name__}: {str(error)[:200]}")
            report = unanswered(name, seed, why)
        if report.notice and (cause := _cause(self.nb, name)):
            report = dataclasses.replace(report, remarks=(cause, *report.remarks))
        if self.isolation == "none":
            report = dataclasses.replace(report, remarks=(UNWALLED, *report.remarks))
        return _shown(report, self._language)

    def _examined(self, name: str, seed: int) -> Report:
        """A kernel that a cell has brought down is replaced; one that dies now had its chance."""
        manager: Any = self.km
        if not run_sync(manager.is_alive)():
            self._renew()
        why = DIED
        try:
            return examine(name, KernelCandidate(self._evaluate), seed)
        except NoAnswerError:
            why = SLOW.fill(seconds=self.check_timeout)
        except DeadKernelError:
            pass
        self._renew()
        return unanswered(name, seed, why)

    def _seed(self, name: str) -> int:
        """The same for the same work of the same student, and nobody can know it before."""
        if not self.secret_file:
            return secrets.randbits(63)
        secret = Path(self.secret_file).read_bytes()
        of = "\0".join((self._student, name, self._submission)).encode()
        return int.from_bytes(hmac.digest(secret, of, "sha256")[:8]) >> 1

    def _evaluate(self, expression: str) -> str:
        return reply_text(run_sync(self._reply)(asked(expression), self.check_timeout))

    async def _reply(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The content of the kernel's reply to an execute request of ours."""
        client: Any = self.kc
        message = await ensure_async(client.execute(**request))
        end = time.monotonic() + seconds
        with contextlib.suppress(queue.Empty):
            while (left := end - time.monotonic()) > 0:
                reply = await client.get_shell_msg(timeout=left)
                if reply["parent_header"].get("msg_id") == message:
                    return reply["content"]
        raise NoAnswerError

    def _answers(self, seconds: float = 3.0) -> bool:
        """Whether the kernel still takes requests."""
        try:
            run_sync(self._reply)(REQUEST, seconds)
        except (DeadKernelError, NoAnswerError):
            return False
        return True

    def _renew(self) -> None:
        """A new kernel, in which every cell has run that ended well before."""
        start, displays = time.monotonic(), self._display_id_map
        while not self._replay(start):
            pass
        self._replays -= time.monotonic() - start
        self._display_id_map = displays

    def _replay(self, start: float) -> bool:
        """Run them in a new kernel, for their names alone; whether it lives on.

        A cell that ends it this time is left out of the next one.
        """
        self._fresh_kernel()
        for index, cell in list(self._well.items()):
            if time.monotonic() - start > self._replays:
                break
            self._display_id_map = {}
            self.nb.cells[index] = again = copy.deepcopy(cell)
            try:
                super().preprocess_cell(again, self.resources, index)
            except (DeadKernelError, CellTimeoutError):
                del self._well[index]
                return False
            finally:
                self.nb.cells[index] = cell
        return True

    def _fresh_kernel(self) -> None:
        self._cleanup_kernel()
        self.create_kernel_manager()
        self.start_new_kernel()
        self.start_new_kernel_client()


_sandboxes = contextlib.ExitStack()
atexit.register(_sandboxes.close)


@functools.cache
def sandbox(unit: str, isolation: str) -> Sandbox:
    """The sandbox of a unit, which stays open for the next submissions to it.

    Raises SandboxError where students' code cannot be walled in.
    """
    gc.collect()
    gc.freeze()  # what is imported by now stays, and need not be looked through for each student
    return _sandboxes.enter_context(Sandbox(unit, "none" if isolation == "none" else "bwrap"))


def check_name(cell: NotebookNode) -> str | None:
    """The exercise that a graded cell checks, if it is a check and nothing else."""
    graded = cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade")
    match = _CHECK.fullmatch(cell.source) if graded else None
    return match[2] if match and match[2] in catalogue.exercises() else None


def is_helper(cell: NotebookNode) -> bool:
    """Whether a cell only asks for a hint and the like, which tells nothing while it is graded."""
    graded = cell.metadata.get("nbgrader")
    return cell.cell_type == "code" and not graded and bool(HELPERS.fullmatch(cell.source))


def language_of(nb: NotebookNode) -> str:
    """The language a submission is written in: "en" or "ko"."""
    return "ko" if nb.metadata.get("blocklab", {}).get("language") == "ko" else "en"


def grade_id(cell: NotebookNode) -> str | None:
    """The name that nbgrader knows a cell by, if it does."""
    return cell.metadata.get("nbgrader", {}).get("grade_id")


def _unit(nb: NotebookNode) -> str:
    """The unit whose reference stays out of reach: that of the notebook's own checks."""
    names = [name for cell in nb.cells if (name := check_name(cell))]
    return min((catalogue.exercise(name).unit for name in names), default="")


def _cause(nb: NotebookNode, name: str) -> Text | None:
    """That the cell with the answer ended in an error, if it did."""
    answers = [c for c in nb.cells if grade_id(c) == f"{name}-answer"]
    ended = [o for cell in answers for o in cell.get("outputs", []) if o.output_type == "error"]
    if not ended:
        return None
    if ended[-1].ename == "CellTimeoutError":
        return TIMED_OUT
    return ENDED.fill(error=visible(ended[-1].ename[:100]))


def mapped(value: Any, change: Callable[[str], str]) -> Any:
    """An output, or part of one, with every string in it changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [mapped(v, change) for v in value]
    if isinstance(value, dict):
        return NotebookNode({mapped(k, change): mapped(v, change) for k, v in value.items()})
    return value


def _digest(nb: NotebookNode) -> str:
    sources = [[cell.cell_type, cell.source] for cell in nb.cells]
    return hashlib.sha256(json.dumps(sources).encode()).hexdigest()


def _shown(report: Report, language: str) -> NotebookNode:
    """The report as nbgrader reads it: a table for people, and a number for the gradebook."""
    data = {"text/html": report.html(language), "text/plain": repr(report)}
    return new_output("execute_result", data)


def _error(error: Exception) -> NotebookNode:
    kind = type(error).__name__
    said = (str(error).strip() or kind)[:300]
    return new_output("error", ename=kind, evalue=said, traceback=[said])
