"""`sottovoce plan`: what a study would give, before anybody runs or deploys it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sottovoce.catalogue.task import algorithm_of
from sottovoce.cli.output import table_of, write_rows
from sottovoce.cli.simulate import number_of, refuse_options
from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.lab.plan import Plan


def plan(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="A study in TOML (see experiments/), instead of options.")] = None,
    learner: Annotated[str | None, typer.Option(help="See `sottovoce algorithms`.")] = None,
    preset: Annotated[str, typer.Option()] = "practical",
    world: Annotated[list[str] | None, typer.Option(help="A world by name; may be repeated.")] = None,
    contexts: Annotated[str | None, typer.Option(help="isotropic, ill-conditioned or fixed (linear).")] = None,
    dimension: Annotated[int, typer.Option(help="Length of the features, or of a point.")] = 0,
    arms: Annotated[int | None, typer.Option(help="How many actions (default 10; none for points).")] = None,
    gap: Annotated[float | None, typer.Option(help="How much better the best arm is (arms).")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="Budget of one report; may be repeated.")] = None,
    delta: Annotated[float | None, typer.Option(help="For mechanisms that need one (default 1e-5).")] = None,
    rounds: Annotated[int, typer.Option()] = 10_000,
    tune: Annotated[list[str] | None, typer.Option(help="Override a preset's number: NAME=VALUE.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the rows to this file.", dir_okay=False)] = None,
) -> None:
    """Foresee noise, regret and the people needed, in a second or two and without a simulation."""
    from rich.console import Console

    from sottovoce.lab.plan import plans_of
    from sottovoce.lab.study.file import Study, load_study

    if file is not None:
        refuse_options(context)
        study = load_study(file)
    elif learner is None:
        raise ConfigurationError("name a study file or a --learner; `sottovoce algorithms` lists them")
    else:
        options = {"contexts": contexts, "gap": gap}
        points = algorithm_of(learner).actions == "points"
        study = Study(
            learner=learner,
            preset=preset,
            world=world or [],
            dimension=dimension,
            arms=(0 if points else 10) if arms is None else arms,
            epsilon=epsilon or [1.0],
            delta=delta,
            rounds=rounds,
            options={name: value for name, value in options.items() if value is not None},
            tuning=dict(number_of(pair) for pair in tune or []),
        )
    plans = plans_of(study)
    console = Console()
    console.print(_reports(plans))
    console.print()
    console.print(_outlook(plans))
    console.print()
    for note in sorted({row.note for row in plans if row.note}):
        console.print(f"no prediction: {note}", style="yellow")
    console.print("compare: people who must answer, spread evenly, to tell two arms apart (95 %)", style="dim")
    console.print("people: until the regret is half of uniform play's. Interval: 9 runs in 10.", style="dim")
    write_rows(json, [row._asdict() for row in plans])


def _reports(plans: "list[Plan]") -> "Table":
    first = plans[0]
    title = f"{first.learner} ({first.preset}): one report by {first.mechanism}, {first.rounds:,} of them"
    table = table_of(title, "who", "epsilon", "delta", "bytes", "noise", "error at the end", "compare")
    for row in plans:
        numbers = f"{row.noise:.3g}", f"{row.error:.3g}", _count(row.people_to_compare)
        table.add_row(row.world, f"{row.epsilon:g}", f"{row.delta:g}", f"{row.bytes}", *numbers)
    return table


def _outlook(plans: "list[Plan]") -> "Table":
    table = table_of("What to expect", "who", "epsilon", "regret", "interval", "of uniform", "people", "samples")
    for row in plans:
        regret, interval, share = "-", "-", "-"
        if row.predicted_regret is not None and row.uniform_regret:
            regret, share = f"{row.predicted_regret:,.0f}", f"{row.predicted_regret / row.uniform_regret:.1%}"
            interval = f"{row.regret_low:,.0f} to {row.regret_high:,.0f}"
        people = _count(row.people_needed) if row.people_needed else f"> {row.rounds:,}" if share != "-" else "-"
        table.add_row(row.world, f"{row.epsilon:g}", regret, interval, share, people, _count(row.predicted_samples))
    return table


def _count(people: float | None) -> str:
    return "-" if people is None else f"{people:,.0f}"
