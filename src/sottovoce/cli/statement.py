"""`sottovoce statement`: what a task promises and what it does not, for the privacy officer."""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.cli.output import check_writable, say

if TYPE_CHECKING:
    from sottovoce.report.statement.facts import Allowance, Facts, Shuffled


def statement(
    task: Annotated[str, typer.Argument(help="A task file; with --server the id of a task.")],
    server: Annotated[str, typer.Option(metavar="ADDRESS", help="The address of a server that has the task.")] = "",
    html: Annotated[Path | None, typer.Option(help="Write a page to this file.", callback=check_writable)] = None,
    yaml: Annotated[
        Path | None, typer.Option(help="Write an entry of the OpenDP registry.", callback=check_writable)
    ] = None,
) -> None:
    """State what a task promises, in odds, what its server sees, and what is not covered; from its contract alone."""
    from sottovoce.report.statement.facts import facts_of
    from sottovoce.report.statement.registry import as_registry_entry
    from sottovoce.report.statement.text import as_markdown, as_page

    body, warm = _from_server(task, server) if server else (_from_file(Path(task)), None)
    facts = with_shuffler(facts_of(body, warm))
    if html:
        html.write_text(as_page(facts), "utf-8")
        say(f"{html}: the statement as a page", wrap=False)
    if yaml:
        yaml.write_text(as_registry_entry(facts, datetime.date.today()), "utf-8")
        say(f"{yaml}: a draft for the OpenDP deployments registry; complete what says TODO", wrap=False)
    if not (html or yaml):
        say(as_markdown(facts).rstrip("\n"), wrap=False)


def _from_server(id: str, server: str) -> tuple[bytes, int]:
    """The contract as it is served, and how many rows without noise the task started from."""
    from sottovoce.admin.remote import Remote

    remote = Remote(server)
    return remote.contract_body(id), remote.summary(id).warm


def _from_file(path: Path) -> bytes:
    from sottovoce.catalogue.resolve import contract_of
    from sottovoce.catalogue.task_file import load_task_file
    from sottovoce.protocol.errors import ConfigurationError

    if not path.exists():
        raise ConfigurationError(f"there is no task file {path}; for a task of a server say --server too")
    return contract_of(load_task_file(path))


def with_shuffler(facts: "Facts") -> "Facts":
    """The facts, and what a shuffler adds, or would."""
    facts = facts._replace(shuffled=tuple(_shuffled(facts)))
    return facts._replace(repeated=tuple(_repeated(facts)))


def _shuffled(facts: "Facts") -> "Iterator[Shuffled]":
    """For pure promises only. With the contract's shuffler: if all of a batch is honest, or a half, or a tenth.

    Without one: what it would add to the reports of one model, and to all that are expected.
    """
    from sottovoce.lab.shuffling import DELTA, shuffled_epsilon
    from sottovoce.protocol.budget import Budget
    from sottovoce.report.statement.facts import Shuffled

    if facts.promise.pure:
        planned = {facts.learning.publish_every, facts.learning.horizon}
        honest = {max(facts.batch // share, 1) for share in (1, 2, 10)}
        for reports in sorted(honest if facts.batch else planned):
            epsilon = shuffled_epsilon(facts.promise.epsilon, reports, DELTA, bits=facts.one_bit)
            yield Shuffled(reports, Budget(epsilon, DELTA))


def _repeated(facts: "Facts") -> "Iterator[Allowance]":
    """What several reports of one device promise to the server behind the contract's shuffler."""
    from sottovoce.lab.shuffling import repeated
    from sottovoce.report.statement.facts import Allowance

    if facts.batch and facts.shuffled:
        one = facts.shuffled[-1].promise
        for limit, reports in (Allowance(facts.promise, 1), facts.window, facts.lifetime):
            yield Allowance(repeated(one, reports, limit), reports)
