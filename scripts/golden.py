"""Renew Python's half of the golden vectors, tests/golden/*.python.json. `make golden`.

The other half is made by clients/browser/scripts/golden.mjs; tests in both languages read both.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from vectors.answers import FOLDER
from vectors.made import TOPICS, text_of

for topic in TOPICS:
    target = FOLDER / f"{topic}.python.json"
    target.write_text(text_of(topic), encoding="utf-8")
    print(f"{target.name}: {target.stat().st_size:,} bytes")
