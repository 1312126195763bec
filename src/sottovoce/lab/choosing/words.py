"""A choice in words: what to take and why, what to expect, and what to write into the task file."""

from typing import Any

import msgspec

from sottovoce.catalogue.algorithms import advice_of, algorithm_of
from sottovoce.catalogue.resolve import contract_of, tuning_of
from sottovoce.catalogue.task_file import TaskFile
from sottovoce.lab.choosing.choose import Choice, Score, Wish, people_needed, plans_for_people, rank
from sottovoce.lab.plan import plan_of
from sottovoce.lab.study.file import Study
from sottovoce.protocol.errors import ConfigurationError


def figures_of(score: Score) -> str:
    """As in a table: regret in percent and half of its interval; or people asked, and right answers if not all are.

    >>> from types import SimpleNamespace as Some
    >>> figures_of(Some(mean=0.0523, high=0.0604, result=Some(correct=None)))
    '5.2 ±0.8'
    """
    if score.result.correct is None:
        digits = 0 if score.mean >= 0.0995 else 1
        return f"{100 * score.mean:.{digits}f} ±{100 * (score.high - score.mean):.{digits}f}"
    right = f"{score.result.right()[0]:.0%}" if score.result.stopped.all() else "-"
    return f"{score.mean:,.0f} {right}".removesuffix(" 100%")


def wanted(wish: Wish) -> str:
    """What is wanted, in words.

    >>> wanted(Wish(regret=0.1))
    "at most 10 % of uniform play's regret"
    """
    if wish.people:
        return f"the best action, from at most {wish.people:,} people"
    return f"at most {100 * wish.regret:g} % of uniform play's regret"


def recommendation(choice: Choice) -> str:
    """Everything that has to be decided, in a line."""
    taken = choice.taken
    row = plan_of(taken.study, taken.result, taken.uniform)
    promise = f"epsilon {row.epsilon:g}" + (f", delta {row.delta:g}" if row.delta else "")
    size = "one byte" if row.bytes == 1 else f"{row.bytes} bytes"
    return f"{row.learner}, preset {row.preset} ({row.mechanism}, {size} a report), {promise}"


def reasons(choice: Choice) -> list[str]:
    """Why this learner, and why this budget."""
    taken = choice.taken
    rivals = [one for one in choice.scores.values() if one.epsilon == taken.epsilon and one.runs == taken.runs]
    best = min(rivals, key=rank)
    said = [_why_learner(taken, best, len({key[:2] for key in choice.scores}))]
    smaller = [one for one in choice.scores.values() if one.epsilon < taken.epsilon]
    if smaller:
        nearest = max(one.epsilon for one in smaller)
        closest = min((one for one in smaller if one.epsilon == nearest), key=rank)
        said.append(f"Epsilon {nearest:g} is not enough: {name_of(closest.study)} {_did(closest)} there.")
    else:
        said.append("No smaller epsilon was tried; name one with --epsilon.")
    return said


def _why_learner(taken: Score, best: Score, of: int) -> str:
    advice = advice_of(taken.study.learner)
    if advice:
        guide = f"The guide names it for: {advice.situation} ({advice.why})."
    else:
        guide = f"The guide does not name it. It is for: {algorithm_of(taken.study.learner).setting}."
    if of == 1:
        return f"{guide} No other was compared."
    if best is taken:
        return f"{guide} Of {of} candidates it was the best here: it {_did(taken)}."
    return f"{guide} It {_did(taken)}; {name_of(best.study)} {_did(best)}, which may be chance."


def _did(score: Score) -> str:
    if score.result.correct is None:
        return f"lost {score.mean:.1%} ({score.low:.1%} to {score.high:.1%}) of what uniform play loses"
    if not score.result.stopped.all():
        return f"had no answer after {score.result.rounds[-1]:,} people in some runs"
    right, low, high = score.result.right()
    return f"asked {score.mean:,.0f} people, right in {right:.0%} of {score.runs} runs ({low:.0%} to {high:.0%})"


def name_of(study: Study) -> str:
    """A candidate's name: the preset is named where it is not the usual one."""
    return study.learner if study.preset == "practical" else f"{study.learner} {study.preset}"


def prediction(score: Score) -> str:
    """What to expect of it; the figures are those of `sottovoce plan`."""
    row = plan_of(score.study, score.result, score.uniform)
    if row.predicted_samples is not None:
        return f"an answer after {row.predicted_samples:,.0f} people, right in {row.predicted_right:.0%} of runs."
    half = f" From {row.people_needed:,} people on it is less than half of that." if row.people_needed else ""
    return (
        f"{row.followed:,} people lose {row.predicted_regret:,.0f} in all, in nine runs of ten {row.regret_low:,.0f} "
        f"to {row.regret_high:,.0f}. With uniform play they lose {row.uniform_regret:,.0f}.{half}"
    )


def limits_of(score: Score) -> str:
    """What limits the figures, as in a plan."""
    return plan_of(score.study, score.result, score.uniform).note


def shortfall(score: Score) -> str:
    """What is missing where nothing reaches the wish."""
    needed = people_needed(score)
    if needed is None:
        people = "It would take more people than were simulated, or a larger epsilon."
    else:
        rounded = f"{float(f'{needed:.2g}'):,.0f}"
        people = f"If its regret goes on growing as it did in the second half, about {rounded} people would do."
    return f"The best at epsilon {score.epsilon:g} is {name_of(score.study)}: it {_did(score)}. {people}"


def lines_of(score: Score, file: TaskFile | None) -> list[str]:
    """The lines of a task file that say what is recommended; of a given file those that would change."""
    top: dict[str, Any] = {"learner": score.study.learner, "preset": score.study.preset}
    if plans_for_people(score.study, score.wish):
        top["horizon"] = score.study.rounds
    privacy = {"epsilon": score.epsilon} | ({"delta": delta} if (delta := score.result.cell.task.delta) else {})
    if file is not None:
        top = {name: value for name, value in top.items() if getattr(file, name) != value}
        privacy = {name: value for name, value in privacy.items() if getattr(file.privacy, name) != value}
    changed = file is None or (file.learner, file.preset) != (score.study.learner, score.study.preset)
    tables = {"privacy": privacy, "tuning": tuning_for(score.study, file) if changed else {}}
    lines = [_line(pair) for pair in top.items()]
    for name, values in tables.items():
        lines += [*([""] if lines else []), f"[{name}]", *map(_line, values.items())] if values else []
    return lines


def tuning_for(study: Study, file: TaskFile | None) -> dict[str, Any]:
    """What `[tuning]` has to say: what the preset does not say, and the rest of the file does not either."""
    bare = file and msgspec.structs.replace(file, learner=study.learner, preset=study.preset, tuning={})
    said = algorithm_of(study.learner).presets[study.preset].get("tuning", {}) | (tuning_of(bare) if bare else {})
    return {name: value for name, value in study.tuning.items() if said.get(name) != value}


def _line(pair: tuple[str, Any]) -> str:
    name, value = pair
    return f'{name} = "{value}"' if isinstance(value, str) else f"{name} = {value:_}"


def also_to_change(score: Score, file: TaskFile) -> str:
    """Why the file would be refused with these lines alone; empty if it would not."""
    study, privacy = score.study, msgspec.structs.replace(file.privacy, epsilon=score.epsilon)
    if stale := sorted(file.tuning.keys() - study.tuning.keys()):
        return f"take {', '.join(stale)} out of [tuning]"
    changes = {"learner": study.learner, "preset": study.preset, "tuning": tuning_for(study, file), "privacy": privacy}
    try:
        contract_of(msgspec.structs.replace(file, **changes))
    except ConfigurationError as error:
        return str(error)
    return ""


def rows_of(choice: Choice) -> list[dict[str, Any]]:
    """One row of the stable JSON contract for each candidate and budget: its plan, and how it was judged."""
    rows = []
    for score in choice.scores.values():
        judged = {"mean": score.mean, "low": score.low, "high": score.high, "reaches": score.reaches}
        taken = choice.reached and score is choice.taken
        rows.append(plan_of(score.study, score.result, score.uniform)._asdict() | judged | {"recommended": taken})
    return rows
