"""One server for all tests of a process, with a task of each kind."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from serving import ARMS, MODEL, Server
from sottovoce.protocol.contract import Contract


class Live(NamedTuple):
    server: Server
    arms: Contract
    model: Contract


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    server = Server(tmp_path_factory.mktemp("served")).start()
    try:
        yield Live(server, server.create(ARMS), server.create(MODEL))
    finally:
        server.close()
