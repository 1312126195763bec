"""The options that make a study, for every command that takes one: a TOML file, or the same names one by one."""

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sottovoce.protocol.errors import ConfigurationError

if TYPE_CHECKING:
    from sottovoce.lab.study.file import StudyInWorlds


def on_device(device: str | None) -> str | None:
    """Choose what computes, before anything does."""
    if device is not None:
        from sottovoce.sim.device import use

        use(device)
    return device


Command = Callable[..., None]
StudyFile = Annotated[Path | None, typer.Argument(help="A study in TOML (see experiments/), instead of options.")]
Learners = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this learner; may be repeated (default: all that fit).")
]
Device = Annotated[
    str | None, typer.Option(metavar="gpu|cpu", help="What computes (default: what JAX finds).", callback=on_device)
]
"""What a command that simulates runs on. Choosing it is all that the option does."""
AnyFile = Annotated[Path | None, typer.Argument(help="A study or a live task in TOML, instead of options.")]


def with_study(*, tasks: bool = False, without: tuple[str, ...] = ()) -> Callable[[Command], Command]:
    """Give a command the options of a study before its own; its first argument becomes the study they describe.

    `tasks`: a file of a live task is taken too. `without`: options of a study that this command does not need. Without
    `learner` a command takes several of its own, and the study gets the first, or the usual one for its actions.
    """

    def decorate(command: Command) -> Command:
        _, *own = inspect.signature(command).parameters.values()
        shared = [one for one in inspect.signature(_study).parameters.values() if one.name not in without]
        file = inspect.Parameter("file", inspect.Parameter.KEYWORD_ONLY, annotation=AnyFile if tasks else StudyFile)
        context = file.replace(name="context", annotation=typer.Context)
        every = [context, file.replace(default=None), *shared, *(one.replace(kind=file.kind) for one in own)]

        @functools.wraps(command)
        def run(context: typer.Context, file: Path | None, **given: Any) -> None:
            options = {one.name: given.pop(one.name) for one in shared}
            typed = [name for name in options if _typed(context, name)]
            if file is not None and typed:  # a file says everything about a study; an option beside it would be lost
                listed = ", ".join("--" + name.replace("_", "-") for name in typed)
                raise ConfigurationError(f"{listed} cannot be combined with a study file; change the file")
            if "learner" in without:
                options["learner"] = (given["learner"] or [_usual(options, points=_typed(context, "region"))])[0]
            command(_study(**options) if file is None else _from_file(file, tasks), **given)

        run.__dict__["__signature__"] = inspect.Signature(every)
        run.__annotations__ = {one.name: one.annotation for one in every}
        return run

    return decorate


def _typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _usual(options: dict[str, Any], *, points: bool) -> str:
    """The learner that the guide names first for the actions of these options."""
    from sottovoce.catalogue.algorithms import advised
    from sottovoce.sim.worlds import actions_of

    kind = "points" if points else "features" if options["dimension"] else "arms"
    return advised(actions_of(options["world"][0]) if options["world"] else kind)


def _from_file(path: Path, tasks: bool) -> "StudyInWorlds":
    from sottovoce.lab.study.file import StudyInWorlds, is_task_file, load_study, load_task_study

    if not is_task_file(path):
        return StudyInWorlds(load_study(path))
    if not tasks:
        raise ConfigurationError(f"{path} is a live task, not a study; `sottovoce plan {path}` takes it")
    return load_task_study(path)


def _study(
    *,
    learner: Annotated[str | None, typer.Option(metavar="NAME", help="See `sottovoce algorithms`.")] = None,
    preset: Annotated[
        str, typer.Option(metavar="NAME", help="Numbers for the learner, by name; paper: as published.")
    ] = "practical",
    world: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="How simulated people answer, by name; may be repeated.")
    ] = None,
    contexts: Annotated[
        str | None, typer.Option(metavar="NAME", help="isotropic, ill-conditioned or fixed (linear).")
    ] = None,
    dimension: Annotated[int, typer.Option(help="Length of the features, or of a point.")] = 0,
    region: Annotated[str, typer.Option(metavar="NAME", help="ball, box or simplex (learners of points).")] = "ball",
    arms: Annotated[int | None, typer.Option(help="How many actions (default 10; none for points).")] = None,
    gap: Annotated[float | None, typer.Option(help="How much better the best arm is (arms, switching-arms).")] = None,
    option: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Any other option of the world.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Your copy of the data (movielens): a file or folder.")] = None,
    epsilon: Annotated[list[float] | None, typer.Option(help="Budget of one report; may be repeated.")] = None,
    delta: Annotated[
        float | None, typer.Option(help="For presets that need one (default 1e-5; compared only if given).")
    ] = None,
    rounds: Annotated[int, typer.Option(help="How many people come, one after the other.")] = 10_000,
    seeds: Annotated[int, typer.Option(help="How many runs; each has people of its own.")] = 8,
    seed: Annotated[int, typer.Option(help="Where the seeds start: another number, other worlds.")] = 0,
    publish_every: Annotated[int, typer.Option(help="Rounds between two published models.")] = 1,
    delay: Annotated[int, typer.Option(help="Rounds until a report arrives.")] = 0,
    tune: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Instead of a preset's number.")] = None,
) -> "StudyInWorlds":
    """The study that the options describe."""
    if learner is None:
        raise ConfigurationError("name a study file or a --learner; `sottovoce algorithms` lists them")
    from sottovoce.catalogue.algorithms import algorithm_of
    from sottovoce.lab.study.file import Study, StudyInWorlds

    points = algorithm_of(learner).actions == "points"
    options = dict(number_of(pair) for pair in option or [])
    options |= {"contexts": contexts, "gap": gap, "path": str(data) if data else None}
    study = Study(
        learner=learner,
        preset=preset,
        world=world or [],
        dimension=dimension,
        arms=(0 if points else 10) if arms is None else arms,
        region={"kind": region} if points else {},
        epsilon=epsilon or [1.0],
        delta=delta,
        rounds=rounds,
        seeds=seeds,
        seed=seed,
        publish_every=publish_every,
        delay=delay,
        options={name: value for name, value in options.items() if value is not None},
        tuning=dict(number_of(pair) for pair in tune or []),
    )
    return StudyInWorlds(study)


def number_of(pair: str) -> tuple[str, Any]:
    """The two sides of NAME=VALUE, the second as a number if it is one, or as several between commas.

    >>> number_of("gap=0.1"), number_of("rewards=0.1,0.2"), number_of("motion=fixed")
    (('gap', 0.1), ('rewards', [0.1, 0.2]), ('motion', 'fixed'))
    """
    name, equals, value = pair.partition("=")
    if not equals:
        raise ConfigurationError(f"expected NAME=VALUE, got {pair!r}")
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        return name, value
    return name, numbers if len(numbers) > 1 else numbers[0]
