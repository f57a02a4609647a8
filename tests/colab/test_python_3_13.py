"""With Colab's own Python and torch: every reference passes its check, without a warning."""

import json
import subprocess
from pathlib import Path

import pytest

from blocklab import catalogue
from tests.colab import environments

pytestmark = pytest.mark.full
CODE = """
import json
from blocklab import catalogue
from blocklab.checks.candidate import LocalCandidate
from blocklab.checks.examine import examine

candidate = LocalCandidate({name: catalogue.reference(name) for name in catalogue.exercises()})
print(json.dumps({name: examine(name, candidate).fraction for name in catalogue.exercises()}))
"""


def test_every_reference_passes(tmp_path: Path):
    if not (python := environments.colab_with_its_python()):
        pytest.skip("there is no Python 3.13")
    env = {"PYTHONPATH": str(environments.ROOT), "BLOCKLAB_HOME": str(tmp_path)}
    done = subprocess.run([python, "-c", CODE], env=env, capture_output=True, text=True)
    assert done.stderr == ""
    assert json.loads(done.stdout) == dict.fromkeys(catalogue.exercises(), 1.0)
