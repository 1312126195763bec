"""What is expected of a task, simulated before its first report: the server keeps it, and the dashboard shows it."""

from pathlib import Path

from sottovoce.admin.remote import Remote
from sottovoce.cli.output import progress_bar, say
from sottovoce.protocol.errors import Refused, SottovoceError
from sottovoce.protocol.team import Prediction
from sottovoce.report.learning import expected

FIELDS = [name for name in Prediction.__struct_fields__ if name != "note"]
"""A prediction has these names of a plan."""


def predicted(path: Path) -> Prediction | None:
    """The prediction for a task file, from a few short runs; None where such a task cannot be simulated."""
    from sottovoce.lab.plan import plans_of, shortened
    from sottovoce.lab.study.file import load_task_study

    study, worlds, about, _ = load_task_study(path)
    try:
        with progress_bar("predicting", 2 * shortened(study, quick=True).rounds) as advance:
            (plan,) = plans_of(study, worlds, advance, quick=True)
    except SottovoceError as error:
        say(f"no prediction: {error}", "yellow")
        return None
    return Prediction(**{name: getattr(plan, name) for name in FIELDS}, note=f"{about} {plan.note}".strip())


def has_reports(remote: Remote, id: str) -> bool:
    """Is it too late for a prediction? A task that is not there has no reports."""
    try:
        return remote.summary(id).reports > 0
    except Refused:
        return False


def send_prediction(remote: Remote, id: str, prediction: Prediction) -> None:
    """Keep it with the task; a report may have come first."""
    try:
        remote.predict(id, prediction)
    except Refused as error:
        say(f"no prediction: {error}", "yellow")
    else:
        say(expected(prediction, 0), "dim")
