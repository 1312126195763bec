"""Every script of experiments that the manual names runs to its end, in its quick form."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from catalogue import made_up_ratings
from manual import ROOT, assert_alike, blocks
from test_commands import ALONE, lines_of

TYPED = [words for page in ALONE for words, _ in lines_of(page) if words[0] == "python" and words[1] != "-m"]


@pytest.mark.soak
@pytest.mark.parametrize("typed", sorted({shlex.join(words[1:]) for words in TYPED}))
def test_a_script_of_the_manual_runs(typed: str, tmp_path: Path):
    ratings = made_up_ratings(tmp_path / "u.data")
    words = shlex.split(typed.replace("PATH", str(ratings)))
    done = subprocess.run([sys.executable, *words, "--quick"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout


@pytest.mark.soak
def test_the_tutorial_prints_what_it_says(tmp_path: Path):
    """Its commands as they stand, without what `make test` makes smaller."""
    page = ROOT / "docs" / "tutorial.md"
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    for words, block in lines_of(page):
        following = [one for one in blocks(page) if one.before == block and one.kind == "text"]
        if words[0] == "sottovoce" and following:
            command = [sys.executable, "-m", *words]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
            assert_alike(done.stdout, following[0].text)
