"""Every script of experiments that the manual names runs to its end, in its quick form."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from catalogue import made_up_ratings
from manual import PAGES, ROOT
from test_commands import lines_of

TYPED = [words for page in PAGES for words, _ in lines_of(page) if words[0] == "python" and words[1] != "-m"]


@pytest.mark.soak
@pytest.mark.parametrize("typed", sorted({shlex.join(words[1:]) for words in TYPED}))
def test_a_script_of_the_manual_runs(typed: str, tmp_path: Path):
    ratings = made_up_ratings(tmp_path / "u.data")
    words = shlex.split(typed.replace("PATH", str(ratings)))
    done = subprocess.run([sys.executable, *words, "--quick"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout
