"""`sottovoce try`: a table of one's own, at budgets that protect, beside no privacy and the best fixed action."""

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from sottovoce.cli.output import JsonFile, folder, progress_bar, say, table_of, words, write_rows
from sottovoce.cli.study_options import Device
from sottovoce.privacy.mechanisms import LARGEST_EPSILON
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from sottovoce.lab.try_data.trial import Trial

EPSILON = (1.0, 4.0, 8.0)
LEARNED = "learned: share of the way from the best fixed action to the same without privacy"
SLOW = "Replay of so many actions takes long; a first look: --people 5000 --seeds 1"


def try_data(
    data: Annotated[
        str, typer.Argument(metavar="TABLE", help="A CSV file; or iris, wine, breast_cancer, digits of scikit-learn.")
    ],
    label: Annotated[
        str, typer.Option(metavar="COLUMN", help="Where the right answer of each row is; all answers are the actions.")
    ] = "",
    action: Annotated[str, typer.Option(metavar="COLUMN", help="For a log: what was chosen.")] = "",
    reward: Annotated[str, typer.Option(metavar="COLUMN", help="For a log: what came of it.")] = "",
    propensity: Annotated[str, typer.Option(metavar="COLUMN", help="For a log: how probable the choice was.")] = "",
    reward_range: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="Smallest and largest reward (default: as in the table)."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="A column to leave out; may be repeated.")
    ] = None,
    task: Annotated[Path | None, typer.Option(metavar="FILE", help="A task file, instead of guessing one.")] = None,
    learner: Annotated[str, typer.Option(metavar="NAME", help="Default: the one we recommend for the table.")] = "",
    people: Annotated[int | None, typer.Option(help="How many come (default 100,000, or the task's horizon).")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="May be repeated; default 1, 4, 8 or the task's.")] = None,
    seeds: Annotated[int, typer.Option(help="How many runs.")] = 4,
    device: Device = None,
    out: Annotated[Path | None, typer.Option(help="Folder of results (default: results/try-NAME).")] = None,
    json: JsonFile = None,
) -> None:
    """Would it have worked for us? Try a table of right answers, or a log of actions and rewards."""
    from sottovoce.lab.try_data.page import HEADINGS, setting_of, table_rows, write_page
    from sottovoce.lab.try_data.question import Asked, question_of
    from sottovoce.lab.try_data.trial import cells_for, remarks, rows_of, trial_of, verdicts

    named = (label, action, reward, propensity)
    question = question_of(Asked(data, *named, tuple(ignore or ()), reward_range, task, learner, people))
    if seeds < 1:
        raise ConfigurationError(f"seeds must be at least 1, got {seeds}")
    budgets = epsilon or ([question.file.privacy.epsilon] if task else EPSILON)
    _, cells = cells_for(question, budgets, seeds)
    if question.slow:
        say(SLOW, "dim")
    place = folder(out or Path("results") / f"try-{question.file.id}")
    with progress_bar("people", len(cells) * question.file.horizon) as advance:
        trial = trial_of(question, budgets, seeds, advance)
    say(f"{question.name}: {setting_of(trial)}")
    say()
    say(table_of("", words(HEADINGS[0]), *HEADINGS[1:], rows=table_rows(trial)))
    say()
    for sentence in verdicts(trial):
        say(sentence.replace("\n", " "), "bold")
    say()
    for note in (LEARNED, *remarks(trial)):
        say(note.replace("\n", " "), "dim")
    if not task:
        say("Correct the task file and go live with it, or try it again with --task.", "dim")
        say(f"task file: {_write_task(place, trial, data)}", wrap=False)
    say(f"report: {write_page(place, trial)}", wrap=False)
    write_rows(json, rows_of(trial))


def _write_task(place: Path, trial: "Trial", source: str) -> str:
    """Write the guessed task with the smallest budget that worked; a file that is there may be a corrected one."""
    from sottovoce.lab.try_data.task_text import task_text
    from sottovoce.lab.try_data.trial import worked

    enough = [o.cell.task.epsilon for o in trial.private if worked(o, trial)]
    enough = [epsilon for epsilon in enough if epsilon <= LARGEST_EPSILON]
    file = trial.question.file
    if enough:
        spent = msgspec.structs.replace(file.privacy, epsilon=enough[0], lifetime=10 * enough[0])
        file = msgspec.structs.replace(file, privacy=spent)
    names = itertools.chain(["task.toml"], (f"task-{count}.toml" for count in itertools.count(2)))
    texts = ((place / name, task_text(file, source, str(place / name))) for name in names)
    path, text = next(
        (path, text) for path, text in texts if not path.exists() or path.read_text(encoding="utf-8") == text
    )
    path.write_text(text, encoding="utf-8")
    return str(path)
