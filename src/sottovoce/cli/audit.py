"""`sottovoce audit`: attack every mechanism from outside, and every planted bug too."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.cli.output import JsonFile, progress_bar, say, table_of, words, write_rows
from sottovoce.lab.audit.planted import planted_subjects
from sottovoce.lab.audit.program import Program
from sottovoce.lab.audit.run import TRIALS, Verdict, audit_all
from sottovoce.lab.audit.subjects import Subject, honest_subjects, most_different
from sottovoce.privacy.gates import measuring_of, mechanisms_of
from sottovoce.privacy.mechanisms import MECHANISMS, name_of
from sottovoce.protocol.contract import contract_from
from sottovoce.protocol.errors import ConfigurationError, UnknownName


def audit(
    file: Annotated[Path | None, typer.Argument(help="Audit the gates of this live task (TOML).")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Audit every mechanism and every planted bug.")] = False,
    mechanism: Annotated[str | None, typer.Option(metavar="NAME", help="Audit one mechanism, by its name.")] = None,
    trials: Annotated[int, typer.Option(help="Reports for the hardest case; easier ones take a part of it.")] = TRIALS,
    device: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="With a task: the command of another device, which sends the reports."),
    ] = None,
    json: JsonFile = None,
    workers: Annotated[int | None, typer.Option(help="How many at once (default: one for each core).")] = None,
) -> None:
    """Measure from outside how much a report gives away, and compare it with the promise.

    Two people whose data differ as much as possible, many reports as bytes, the best distinguisher: a lower bound on
    the true epsilon, with 99.9 % confidence for the whole list. Honest mechanisms must stay under their promise;
    devices that are broken on purpose must be caught. The exit code is 1 if any of them is not.
    """
    subjects, verdicts = _subjects(file, everything, mechanism, device), []
    with progress_bar("drawing reports", len(subjects)) as advance:
        for verdict in audit_all(subjects, trials, workers=workers):
            verdicts.append(verdict)
            advance(1, f"{verdict.mechanism} over {verdict.domain}")
    honest, planted = ([v for v in verdicts if (v.planted is None) == sound] for sound in (True, False))
    for found, table in ((honest, _honest), (planted, _planted)):
        if found:
            say(table(found))
            say()
    write_rows(json, [{name: v for name, v in row._asdict().items() if name != "evidence"} for row in verdicts])
    failed = sum(not verdict.passed for verdict in verdicts)
    say(f"{len(verdicts)} audited, {failed} failed.")
    if failed:
        raise typer.Exit(1)


def _subjects(file: Path | None, everything: bool, mechanism: str | None, device: str | None) -> list[Subject]:
    if [file is not None, everything, mechanism is not None].count(True) != 1:
        raise ConfigurationError("say what to audit: a task file, --all or --mechanism NAME")
    if file is not None:
        return _gates(file, tuple(shlex.split(device or "")))
    if device is not None:
        raise ConfigurationError("--device answers the gates of a task: name the task's file too")
    if mechanism is not None and mechanism not in MECHANISMS:
        raise UnknownName("mechanism", mechanism, MECHANISMS)
    subjects = honest_subjects() + planted_subjects()
    return [subject for subject in subjects if everything or name_of(subject.mechanism) == mechanism]


def _gates(file: Path, device: tuple[str, ...]) -> list[Subject]:
    """Every gate that devices may answer through: the task's own, the quieter ones, and those that measure.

    A program is asked about the first two: which reports measure is up to the coin of a permit.
    """
    body = contract_of(load_task_file(file))
    contract = contract_from(body)
    gates = mechanisms_of(contract) + (() if device else measuring_of(contract))
    programs = [Program(device, body, number) if device else None for number in range(len(gates))]
    subjects = [
        Subject(mechanism=gate, people=most_different(gate.domain), program=program)
        for gate, program in zip(gates, programs, strict=True)
    ]
    subjects[0].transcripts(0, 1)  # a command that cannot be started is told before the long work
    return subjects


def _honest(verdicts: list[Verdict]) -> Table:
    columns = (words("mechanism"), "epsilon", "delta", "at least", "share", words("verdict"))
    table = table_of("What the mechanisms give away", *columns)
    for v in verdicts:
        verdict = Text("kept", "green") if v.passed else Text.assemble(("BROKEN", "bold red"), f" {v.evidence}")
        bound, share = f"{v.lower_bound:.3f}", f"{v.lower_bound / v.epsilon:.0%}"
        table.add_row(f"{v.mechanism}, {v.domain}", f"{v.epsilon:g}", f"{v.delta:g}", bound, share, verdict)
    return table


def _planted(verdicts: list[Verdict]) -> Table:
    columns = (words("mechanism"), "epsilon", "at least", words("verdict"), words("evidence", wraps=True))
    table = table_of("Devices broken on purpose", *columns)
    for v in verdicts:
        verdict = Text("caught", "green") if v.passed else Text("MISSED", "bold red")
        table.add_row(f"{v.mechanism}, {v.planted}", f"{v.epsilon:g}", f"{v.lower_bound:.3f}", verdict, v.evidence)
    return table
