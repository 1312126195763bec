"""How web processes and learners work together on one store, and how one learner stays the only one.

A web process wakes the learner when the journal has grown, or has a `Wish`. The learner answers with `News`. With the
embedded store both use the pipes of a child process and locks on files (`pipes`); with PostgreSQL the database brings
the same messages to all web processes of all hosts, and elects the learner (`database`).
"""

from pathlib import Path
from typing import Any

from sottovoce.server.coordination.messages import WebSide
from sottovoce.server.coordination.pipes import ChildLearner, WebProcess


def learner_of(store: Any, address: str, folder: Path) -> ChildLearner:
    """The learner of a store, for a web process."""
    if not store.shared:
        return ChildLearner(address, folder)
    from sottovoce.server.coordination.database import ElectedLearner

    return ElectedLearner(store, folder)


def web_side_of(store: Any, own: WebProcess) -> WebSide:
    """Those whom a learner serves."""
    if not store.shared:
        return own
    from sottovoce.server.coordination.database import WebProcesses

    return WebProcesses(store, own)
