"""Build the course: course/ -> lectures/, solutions/, exercises/ and what blocklab knows of them.

`python -m course.build` builds everything, `python -m course.build 02_rms_norm` one unit;
`--check` compares with what is committed and names every place that differs.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from blocklab.text import LANGUAGES
from course import answers, notebooks, source
from course.source import COURSE, SourceError

ROOT = COURSE.parent
CATALOGUE = Path("blocklab/catalogue.json")
UNITS = Path("blocklab/units.json")
SOLUTIONS = Path("blocklab/solutions.json")
Built = dict[Path, NotebookNode]


def lectures(units: Iterable[str]) -> Built:
    """The lecture notebooks by path, not executed, and the front page."""
    built = {Path("lectures/start.ipynb"): notebooks.front_page(_read("start.md", bilingual=True))}
    for unit in units:
        blocks = _read(f"{unit}/lecture.md")
        for lang in LANGUAGES:
            path = Path("lectures", lang, f"{unit}.ipynb")
            built[path] = notebooks.lecture(unit, blocks, lang)
    return built


def solutions(units: Iterable[str]) -> Built:
    """The solution notebooks by path, with nbgrader's metadata."""
    built = {}
    for unit in graded(units):
        blocks = _read(f"{unit}/exercise.md")
        for lang in LANGUAGES:
            path = Path("solutions", lang, unit, f"{unit}.ipynb")
            built[path] = notebooks.exercise(unit, blocks, lang)
            _complete(path, built[path])
    return built


def releases(solved: Built) -> Built:
    """The exercise notebooks by path, made from the solutions by nbgrader itself."""
    built = {}
    for path, notebook in solved.items():
        _, lang, unit, name = path.parts
        built[Path("exercises", lang, unit, name)] = _generate_assignment(unit, name, notebook)
    return built


def catalogue(units: Iterable[str]) -> str:
    """blocklab/catalogue.json: every exercise with its points and hints, once."""
    found: dict[str, dict] = {}
    for unit in graded(units):
        for name, entry in notebooks.entries(unit, _read(f"{unit}/exercise.md")).items():
            if name in found:
                raise SourceError(f"{unit}: {name} is an exercise of {found[name]['unit']} too")
            found[name] = entry
    return _json(found)


def outline(units: Iterable[str]) -> str:
    """blocklab/units.json: the title of every unit with exercises, and its written questions."""
    found = {}
    for unit in graded(units):
        title = _title(f"{unit}/lecture.md")
        written = [b.options["written"] for b in _read(f"{unit}/exercise.md") if _asks(b)]
        found[unit] = {"title": title, "written": written}
    return _json(found)


def _asks(block: source.Block) -> bool:
    return "written" in block.options


def _title(name: str) -> list[str]:
    """The heading of a file in both languages."""
    for block in _read(name):
        if isinstance(block, source.Paragraph) and block.en.startswith("# "):
            return [words.split("\n")[0].removeprefix("# ") for words in (block.en, block.ko)]
    raise SourceError(f"course/{name}: no paragraph begins with a heading")


def explained(units: Iterable[str]) -> str:
    """blocklab/solutions.json: what is said of every solution, and the model answers."""
    exercises, written = {}, {}
    for unit in graded(units):
        blocks = _read(f"{unit}/exercise.md")
        built = answers.entries(unit, blocks)
        if lacking := list(answers.lacking(blocks, built)):
            raise SourceError(f"{unit}: {', '.join(lacking)}")
        exercises |= built["exercises"]
        written |= built["written"]
    return _json({"exercises": exercises, "written": written})


def knowledge(units: Iterable[str]) -> dict[Path, str]:
    """The files of blocklab that are built from the source of all units."""
    made = {CATALOGUE: catalogue, UNITS: outline, SOLUTIONS: explained}
    return {path: make(units) for path, make in made.items()}


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def graded(units: Iterable[str]) -> list[str]:
    return [unit for unit in units if (COURSE / unit / "exercise.md").exists()]


def _read(name: str, bilingual: bool = False) -> list[source.Block]:
    return source.read(COURSE / name, bilingual)


def _complete(path: Path, notebook: NotebookNode) -> None:
    """Raise SourceError where a grade_id is shared, or an answer and its check lack a partner."""
    recorded = [c for c in notebook.cells if "nbgrader" in c.metadata]
    ids = [c.metadata.nbgrader.grade_id for c in recorded]
    if shared := {i for i in ids if ids.count(i) > 1}:
        raise SourceError(f"{path}: two cells share the grade_id {', '.join(sorted(shared))}")
    answers = {i.removesuffix("-answer") for i in ids if i.endswith("-answer")}
    checks = {
        c.metadata.nbgrader.grade_id
        for c in recorded
        if c.cell_type == "code" and c.metadata.nbgrader.grade
    }
    if alone := answers - checks:
        raise SourceError(f"{path}: no check for {', '.join(sorted(alone))}")
    if alone := checks - answers:
        raise SourceError(f"{path}: nothing to answer for {', '.join(sorted(alone))}")


def _generate_assignment(unit: str, name: str, notebook: NotebookNode) -> NotebookNode:
    """One release notebook, by nbgrader's generate_assignment in a folder of its own."""
    from nbgrader.apps import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    from autograder.nbgrader_config import release

    with tempfile.TemporaryDirectory() as folder:
        origin = Path(folder, "source", unit, name)
        origin.parent.mkdir(parents=True)
        nbformat.write(notebook, origin)
        config = Config()
        release(config)
        config.CourseDirectory.root = folder
        config.GenerateAssignment.no_database, config.SaveCells.enabled = True, False
        api = NbGraderAPI(CourseDirectory(config=config), config=config)
        result = api.generate_assignment(unit)
        if not result["success"]:
            raise SourceError(f"{unit}: nbgrader's generate_assignment failed\n{result['log']}")
        made = nbformat.read(Path(folder, "release", unit, name), as_version=4)
    return made


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run a lecture from top to bottom in `folder` and keep its outputs.

    Raises SourceError if a cell fails or writes to stderr.
    """
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as home:
        client = NotebookClient(
            notebook,
            timeout=300,
            record_timing=False,
            coalesce_streams=True,
            resources={"metadata": {"path": folder}},
        )
        try:
            client.execute(env={**os.environ, **threads, "BLOCKLAB_HOME": home})
        except CellExecutionError as error:
            raise SourceError(f"{notebook.metadata.blocklab.unit}: {error}") from error
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr":
                raise SourceError(f"{notebook.metadata.blocklab.unit}: stderr: {output.text}")


def write(built: Built) -> None:
    for path, notebook in built.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, ROOT / path)
        print(path, flush=True)


def differences(built: Built) -> Iterator[str]:
    """Every place where a committed notebook is not what the source gives."""
    for path, notebook in built.items():
        if not (ROOT / path).exists():
            yield f"{path}: is missing"
            continue
        committed = nbformat.read(ROOT / path, as_version=nbformat.NO_CONVERT)
        yield from (f"{path}: {words}" for words in _repeated(committed))
        yield from (f"{path}: {words}" for words in _unlike(committed, notebook))
    known = {ROOT / path for path in built}
    for folder in {path.parts[0] for path in built}:
        for stray in sorted(set((ROOT / folder).rglob("*.ipynb")) - known):
            if ".ipynb_checkpoints" not in stray.parts:
                yield f"{stray.relative_to(ROOT)}: nothing in course/ gives this notebook"


def _repeated(notebook: NotebookNode) -> Iterator[str]:
    for where, ids in (
        ("cell id", [c.get("id") for c in notebook.cells]),
        ("metadata.id", [c.metadata.get("id") for c in notebook.cells]),
        ("grade_id", [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]),
    ):
        for repeated in sorted({i for i in ids if i is not None and ids.count(i) > 1}):
            yield f"two cells share the {where} {repeated}"


def _unlike(committed: NotebookNode, fresh: NotebookNode) -> Iterator[str]:
    if committed.metadata != fresh.metadata:
        yield "its metadata differ from a fresh build"
    if [c.get("id") for c in committed.cells] != [c.id for c in fresh.cells]:
        yield "its cells are not those of a fresh build, in that order"
    by_id = {c.get("id"): c for c in committed.cells}
    for cell in fresh.cells:
        old = by_id.get(cell.id)
        keys = ("cell_type", "source", "metadata")
        if old is not None and any(old.get(k) != cell.get(k) for k in keys):
            yield f'cell {cell.id} differs: "{cell.source[:50]}"'


def check() -> list[str]:
    """Everything in which the committed course differs from a fresh build of its source."""
    units = source.units()
    found: list[str] = []
    for path, content in knowledge(units).items():
        if not (ROOT / path).exists() or (ROOT / path).read_text("utf-8") != content:
            found.append(f"{path}: differs from a fresh build")
    solved = solutions(units)
    return [*found, *differences({**lectures(units), **solved, **releases(solved)})]


def build(chosen: Iterable[str]) -> None:
    """Write what blocklab knows, and the notebooks of the chosen units, lectures with outputs."""
    for path, content in knowledge(source.units()).items():
        (ROOT / path).write_text(content, "utf-8")
    solved = solutions(chosen)
    write(solved)
    write(releases(solved))
    for path, notebook in lectures(chosen).items():
        folder = (ROOT / path).parent
        folder.mkdir(parents=True, exist_ok=True)
        execute(notebook, folder)
        write({path: notebook})


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("run.py build", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("unit", nargs="*", help="a folder of course/; all of them by default")
    parser.add_argument("--check", action="store_true", help="change nothing, name differences")
    options = parser.parse_args(arguments)
    known = source.units()
    if unknown := set(options.unit) - set(known):
        parser.error(f"no unit {', '.join(sorted(unknown))}; there is {', '.join(known)}")
    try:
        if options.check:
            found = check()
            print("\n".join(found) or "The notebooks are what course/ gives.")
            return bool(found)
        build(options.unit or known)
    except SourceError as error:
        print(re.sub(r"\x1b\[[0-9;]*m", "", str(error)), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
