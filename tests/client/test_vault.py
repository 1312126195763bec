"""The file of a device, opened by several at once."""

import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from sottovoce.client.vault import Vault
from sottovoce.protocol.errors import ConfigurationError

OPENERS, ROUNDS = 4, 40


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_several_may_open_a_new_file_at_the_same_moment(tmp_path: Path):
    """Without waiting for each other, one in thirty-five of those who open is told that the file is locked."""
    opened: list[Path] = []

    def one(folder: Path, together: threading.Barrier) -> None:
        together.wait()
        with closing(Vault(folder)) as vault:
            assert vault.joined() == []
        opened.append(folder)

    for number in range(ROUNDS):
        together = threading.Barrier(OPENERS)
        arguments = (tmp_path / str(number), together)
        threads = [threading.Thread(target=one, args=arguments) for _ in range(OPENERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(opened) == OPENERS * ROUNDS


@pytest.mark.parametrize("broken", ["half of it", "no database", "a folder"])
def test_a_file_that_cannot_be_used_is_refused_and_not_replaced(broken: str, tmp_path: Path):
    """A new one would know of nothing that was spent."""
    Vault(tmp_path).close()
    file = tmp_path / "device.sqlite"
    content = file.read_bytes()
    match broken:
        case "half of it":
            file.write_bytes(content[: len(content) // 2])
        case "no database":
            file.write_bytes(b"this is no database, and it is long enough to show it" * 20)
        case _:
            file.unlink()
            file.mkdir()
    before = file.stat().st_ino
    with pytest.raises(ConfigurationError, match=r"cannot use the device's file.*it keeps what was spent: put"):
        Vault(tmp_path)
    assert file.stat().st_ino == before


FORKED = """
import os
from sottovoce.client.vault import Vault
from sottovoce.protocol.errors import ConfigurationError

vault = Vault(None)
if not os.fork():
    try:
        vault.joined()
    except ConfigurationError:
        os._exit(7)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.wait()[1]), vault.joined())
"""


def test_a_forked_process_does_not_spend_the_budget_of_its_parent_again():
    """In memory both would have all of it, and the same permits."""
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60)
    assert done.stdout == "7 []\n", done.stderr
