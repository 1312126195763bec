"""The fenced blocks of the readme and of the manual, and the register that says which test runs each of them.

A new block needs a line here only if none of the rules of `rule_of` fits it; CONTRIBUTING.md says how.

    python tests/manual.py ts FOLDER     write every block of this kind to FOLDER, for a compiler of that language
"""

import re
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

FOLLOWED = ("docs/live.md", "docs/openfeature.md", "docs/backend.md", "docs/tokens.md", "docs/shuffler.md")
"""Pages that need a server: tests/server/test_manual.py follows each from its first line to its last."""

OPERATED = dict.fromkeys(
    ("docs/operations.md", "docs/proxies.md", "docs/runbook.md"), "tests/deploy/test_operating_pages.py"
)
"""Pages for operators: many of their commands are of other programs, and this test says of each what can be checked."""

OWN_TEST = {
    ("README.md", "export SOTTOVOCE_ADMIN_TOKEN"): "tests/server/test_quick_start.py",
    ("CONTRIBUTING.md", 'title = "Greedy'): "tests/test_docs.py",
    ("docs/browser.md", "import { Device }"): "clients/browser/chromium/manual.test.mjs",
    ("docs/browser.md", "<h1></h1>"): "clients/browser/chromium/manual.test.mjs",
    ("docs/openfeature.md", "import { OpenFeature }"): "clients/browser/chromium/openfeature.test.mjs",
    ("docs/protocol.md", 'import { createHash } from "node:crypto"'): "tests/server/test_wire.py",
    ("docs/protocol.md", "5 15 25 35"): "tests/server/test_page_client.py",
    ("docs/protocol.md", "2726 2727 2728"): "tests/server/test_page_client.py",
    ("docs/tokens.md", "[tokens.anna]"): "tests/server/test_admins.py",
    ("docs/tokens.md", "Actions on headline"): "tests/server/test_manual.py",
    ("docs/statement.md", "# Privacy statement"): "tests/test_statement.py",
    ("docs/holdout.md", "people who got the learned choice"): "tests/fleet/test_live_commands.py",
    ("docs/try.md", "age,member,plan"): "tests/test_commands.py",
}
"""Blocks that a test reads from the page by itself: the page and the first words, and where that test is."""

NOTHING_TO_RUN = {
    ("README.md", "protocol    what both halves"),
    ("docs/index.md", "   the server"),
}
"""Drawings and lists."""

RUN = {
    "python": "tests/test_docs.py",
    "console": "tests/test_commands.py",
    "toml": "tests/test_blocks.py",
    "json": "tests/test_blocks.py",
}
"""The test that runs every block of a kind. Blocks of TypeScript, JavaScript and HTML have a test of their own."""


class Block(NamedTuple):
    """A fenced block: what follows the fence, the text, the line it starts in, and the block before it."""

    page: str
    kind: str
    text: str
    line: int
    before: "Block | None" = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All of a page, in order."""
    text, name = page.read_text(encoding="utf-8"), page.name
    if page.is_relative_to(ROOT):
        name = page.relative_to(ROOT).as_posix()
    found: list[Block] = []
    for fence in re.finditer(r"^```([^\n`]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, fence.start()) + 2
        found.append(Block(name, fence[1].strip(), fence[2], line, found[-1] if found else None))
    return found


def every_block() -> list[Block]:
    """All of all pages."""
    return [block for page in PAGES for block in blocks(page)]


def listed(block: Block, table: set[tuple[str, str]] | dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    """The lines of a table that name this block."""
    return [(page, start) for page, start in table if page == block.page and block.text.startswith(start)]


def rule_of(block: Block) -> str | None:
    """Where the block is run: a test, "output" of the block before it, "nothing to run"; None if nobody runs it."""
    if own := listed(block, OWN_TEST):
        return OWN_TEST[own[0]]
    if listed(block, NOTHING_TO_RUN):
        return "nothing to run"
    if block.page in OPERATED:
        return OPERATED[block.page]
    if block.page in FOLLOWED and block.kind in ("console", "python"):
        return "tests/server/test_manual.py"
    if block.kind == "text" and block.before and block.before.kind in ("python", "console", "bash"):
        return "output"
    return RUN.get(block.kind)


def assert_alike(printed: str, written: str) -> None:
    """The same words, and numbers within a tenth: another processor may round a number and meet other luck."""
    number = r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e-?\d+)?"
    assert re.sub(number, "#", printed).split() == re.sub(number, "#", written).split(), printed
    both = ([float(found.replace(",", "")) for found in re.findall(number, text)] for text in (printed, written))
    for ours, theirs in zip(*both, strict=True):
        assert ours == pytest.approx(theirs, rel=0.1), printed


def main(kind: str, folder: str) -> None:
    """Write the blocks of a kind to a folder, named after page and line."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for block in every_block():
        if block.kind == kind:
            name = block.place.replace("/", "-").replace(".md:", "-")
            Path(folder, f"{name}.{kind}").write_text(block.text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
