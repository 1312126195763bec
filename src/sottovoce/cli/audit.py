"""`sottovoce audit`: attack every mechanism from outside, and every planted bug too."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.cli.output import JsonFile, table_of, words, write_rows

if TYPE_CHECKING:
    from sottovoce.lab.audit import Subject, Verdict


def audit(
    file: Annotated[Path | None, typer.Argument(help="Audit the gates of this live task (TOML).")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Audit every mechanism and every planted bug.")] = False,
    mechanism: Annotated[str | None, typer.Option(help="Audit one mechanism, by its name.")] = None,
    trials: Annotated[int, typer.Option(help="Reports for the hardest case; easier ones take a part of it.")] = 100_000,
    json: JsonFile = None,
    workers: Annotated[int | None, typer.Option(help="Processes at a time; one per core unless told.")] = None,
) -> None:
    """Measure from outside how much a report gives away, and compare it with the promise.

    Two people whose data differ as much as possible, many reports as bytes, the best distinguisher: a lower bound on
    the true epsilon, with 99.9 % confidence for the whole list. Honest mechanisms must stay under their promise;
    devices that are broken on purpose must be caught. The exit code is 1 if any of them is not.
    """
    from rich.console import Console

    console = Console()
    verdicts = _audited(_subjects(file, everything, mechanism), trials, workers, console)
    honest, planted = ([v for v in verdicts if (v.planted is None) == sound] for sound in (True, False))
    for found, table in ((honest, _honest), (planted, _planted)):
        if found:
            console.print(table(found))
            console.print()
    write_rows(json, [_row(verdict) for verdict in verdicts])
    failed = sum(not verdict.passed for verdict in verdicts)
    console.print(f"{len(verdicts)} audited, {failed} failed.")
    if failed:
        raise typer.Exit(1)


def _subjects(file: Path | None, everything: bool, mechanism: str | None) -> list["Subject"]:
    from sottovoce.lab.audit import honest_subjects, planted_subjects
    from sottovoce.lab.audit.of_task import task_subjects
    from sottovoce.privacy.mechanisms import MECHANISMS, name_of
    from sottovoce.protocol.errors import ConfigurationError, UnknownName

    if [file is not None, everything, mechanism is not None].count(True) != 1:
        raise ConfigurationError("say what to audit: a task file, --all or --mechanism NAME")
    if file is not None:
        return task_subjects(file)
    if mechanism is not None and mechanism not in MECHANISMS:
        raise UnknownName("mechanism", mechanism, MECHANISMS)
    subjects = honest_subjects() + planted_subjects()
    return [subject for subject in subjects if everything or name_of(subject.mechanism) == mechanism]


def _audited(subjects: list["Subject"], trials: int, workers: int | None, console: Any) -> list["Verdict"]:
    from rich.progress import Progress

    from sottovoce.lab.audit import audit_all

    verdicts = []
    with Progress(console=console, transient=True) as progress:
        bar = progress.add_task("drawing reports", total=len(subjects))
        for verdict in audit_all(subjects, trials, workers=workers):
            verdicts.append(verdict)
            progress.update(bar, advance=1, description=f"{verdict.mechanism} over {verdict.domain}")
    return verdicts


def _honest(verdicts: list["Verdict"]) -> Any:
    columns = (words("mechanism"), "epsilon", "delta", "at least", "share", words("verdict"))
    table = table_of("What the mechanisms give away", *columns)
    for v in verdicts:
        verdict = "[green]kept[/]" if v.passed else f"[bold red]BROKEN[/] {v.evidence}"
        share = f"{v.lower_bound / v.epsilon:.0%}"
        name = f"{v.mechanism}, {v.domain}"
        table.add_row(name, f"{v.epsilon:g}", f"{v.delta:g}", f"{v.lower_bound:.3f}", share, verdict)
    return table


def _planted(verdicts: list["Verdict"]) -> Any:
    columns = (words("mechanism"), "epsilon", "at least", words("verdict"), words("evidence", wraps=True))
    table = table_of("Devices broken on purpose", *columns)
    for v in verdicts:
        verdict = "[green]caught[/]" if v.passed else "[bold red]MISSED[/]"
        table.add_row(f"{v.mechanism}, {v.planted}", f"{v.epsilon:g}", f"{v.lower_bound:.3f}", verdict, v.evidence)
    return table


def _row(verdict: "Verdict") -> dict[str, Any]:
    return {
        "mechanism": verdict.mechanism,
        "domain": verdict.domain,
        "epsilon": verdict.epsilon,
        "delta": verdict.delta,
        "planted": verdict.planted,
        "lower_bound": verdict.lower_bound,
        "passed": verdict.passed,
    }
