"""Taking a record along: everything a learner has done, as one file."""

import json
import sys
from pathlib import Path
from typing import Any

from blocklab import catalogue, mine, record
from blocklab.record import Entry
from blocklab.text import Text

FORMAT = "blocklab-progress"
SAVED = Text(
    "Saved as {path}: what you have done on {count} exercises and questions. Keep the file, and "
    'read it elsewhere with import_progress("{name}").',
    "{path}에 저장했습니다. 연습문제와 질문 {count}개의 기록과 답이 들어 있습니다. 파일을 보관해 "
    '두었다가 다른 곳에서 import_progress("{name}")로 읽으세요.',
)
NO_FILE = Text(
    "There is no file {path}. Upload it beside the notebook (in Colab: the folder icon, left) "
    "or give its full path.",
    "{path} 파일이 없습니다. notebook과 같은 폴더에 올리거나(Colab에서는 왼쪽의 폴더 아이콘) 전체 "
    "경로를 적으세요.",
)
NOT_OURS = Text(
    "{path} is not a file that export_progress has written ({why}). Nothing was changed.",
    "{path}은(는) export_progress로 만든 파일이 아닙니다({why}). 기록은 그대로입니다.",
)
READ = Text(
    "Read {path}: exercises and questions that were new or further on: {changed} of {count}.",
    "{path}을(를) 읽었습니다. 연습문제와 질문 {count}개 가운데 {changed}개가 새것이거나 진도가 더 "
    "나간 것이었습니다.",
)


def export_progress(path: str = "progress.json") -> None:
    """Write everything done so far, with all answers, into one file; in Colab, download it.

    path: of the file, relative to the notebook. Raises OSError where it cannot be written.
    """
    file = Path(path)
    done = record.read()
    content = {"format": FORMAT, "record": done, "mine": _kept()}
    file.write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")
    print(SAVED.fill(path=file.resolve(), count=len(done), name=file.name))
    if "google.colab" in sys.modules:
        from google.colab import files  # type: ignore[import-not-found]

        files.download(str(file))


def import_progress(path: str = "progress.json") -> None:
    """Add what `export_progress` has written to what is recorded here.

    Nothing is lost: of two records of an exercise the better result and the newer answer stay. Take
    only a file of your own: the answers in it run as code when a later unit uses them.
    Raises FileNotFoundError if there is no such file, ValueError if it is something else.
    """
    theirs, answers = _read(Path(path))
    ours = record.read()
    merged = {name: merge(ours.get(name, {}), entry) for name, entry in theirs.items()}
    changed = {name: entry for name, entry in merged.items() if entry != ours.get(name)}
    for name, source in answers.items():
        newer = theirs.get(name, {}).get("kept", "") > ours.get(name, {}).get("kept", "")
        if newer or not mine.file(name).exists():
            mine.put(name, source)
    record.write(changed)
    print(READ.fill(path=path, changed=len(changed), count=len(theirs)))


def merge(a: Entry, b: Entry) -> Entry:
    """Two records of one exercise or question as one, which has lost nothing of either."""
    later, earlier = (b, a) if b.get("tried", "") > a.get("tried", "") else (a, b)
    both = {**earlier, **later}
    choices = {"best": max, "attempts": max, "kept": max, "passed": min, "answered": min}
    for key in choices.keys() & both.keys():
        both[key] = choices[key](entry[key] for entry in (a, b) if key in entry)
    return both


def _kept() -> dict[str, str]:
    """The answers that later units use, by exercise."""
    names = [name for name in catalogue.exercises() if mine.file(name).exists()]
    return {name: mine.file(name).read_text("utf-8") for name in names}


def _read(file: Path) -> tuple[dict[str, Entry], dict[str, str]]:
    """The record and the kept answers in a file, as far as this course knows them."""
    if not file.is_file():
        raise FileNotFoundError(str(NO_FILE.fill(path=file)))
    try:
        content: Any = json.loads(file.read_text("utf-8"))
    except ValueError as error:  # also what is no UTF-8
        raise ValueError(str(NOT_OURS.fill(path=file, why=error))) from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        why = Text('no "format": "{format}" in it', '"format": "{format}" 항목이 없습니다')
        raise ValueError(str(NOT_OURS.fill(path=file, why=why.fill(format=FORMAT))))
    answers = content.get("mine")
    known = catalogue.exercises()
    pairs = answers.items() if isinstance(answers, dict) else ()
    kept = {name: source for name, source in pairs if name in known and isinstance(source, str)}
    return record.entries(content.get("record")), kept
