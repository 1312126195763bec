"""The quick start of the readme works in one paste."""

import os
import re
import subprocess
import sys
from pathlib import Path

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
    for words in ("Which headline to show: thompson", "epsilon 2 a report", "Learned from 40 private reports"):
        assert words in done.stdout
