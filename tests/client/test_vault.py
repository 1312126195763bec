"""The file of a device, opened by several at once."""

import threading
from contextlib import closing
from pathlib import Path

import pytest

from sottovoce.client.vault import Vault

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
