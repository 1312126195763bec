"""What a newcomer types first works: the quick start of the readme in one paste, and the demo."""

import os
import re
import subprocess
import sys
from pathlib import Path

from pages import problems_of
from serving import free_port

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_quick_start_works_in_one_paste(tmp_path: Path):
    """Into a shell that stops at the first error; on a free port, and of the 500 people 40 come."""
    (block,) = re.findall(r"^```bash\n(.*?)^```$", README.read_text("utf-8"), re.M | re.S)
    pasted = block.replace("8080", str(free_port())).replace("--people 500", "--people 40")
    assert pasted.count("sottovoce ") == 4
    done = subprocess.run(
        ["bash", "-e", "-c", pasted],
        cwd=tmp_path,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "80"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in ("Which headline to show: kl-moss", "epsilon 2 a report", "Learned from 40 private reports"):
        assert words in done.stdout


def test_the_demo_runs_from_end_to_end(tmp_path: Path):
    """What `make demo` types, with 60 people a task instead of 3,000."""
    tasks = [str(README.parent / "experiments" / "live" / f"{name}.toml") for name in ("headline", "recommend")]
    command = [sys.executable, "-m", "sottovoce", "demo", *tasks, "--people", "60", "--out", "demo"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr
    page = tmp_path / "demo" / "report.html"
    assert "What headline learned from 60" in page.read_text()
    assert "What recommend learned from 60" in page.read_text()
    assert problems_of(page.as_uri()) == ""
