"""One server and one PostgreSQL for all tests of a process."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from postgres import Postgres
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


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    try:
        yield server.start()
    finally:
        server.close()
