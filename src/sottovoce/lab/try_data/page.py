"""The page of a trial: the verdict, mean reward over people, the table, and what each person is promised."""

import html
from pathlib import Path

from matplotlib.figure import Figure

from sottovoce.lab.study.page import promise_of
from sottovoce.lab.try_data.trial import Trial, helped, range_of, remarks, verdicts
from sottovoce.report.figure import (
    CHOSEN,
    DOTTED,
    NO_PRIVACY,
    UNIFORM,
    grid,
    headline,
    legend,
    on_every_screen,
    panels,
)
from sottovoce.report.page import footer, table, verdict, whole_page
from sottovoce.report.terms import many

NOTE = """In units of the reward. Last tenth: of the people who come last, the mean of all runs, then the lowest and the
highest. Lift: how much more that is than under uniform play. Over all: of everybody. Learned: the share of the way from
the best fixed action to the same learner without privacy, in the last tenth."""
HEADINGS = ("mean reward of a person", "last tenth", "all runs", "over all", "learned")


def table_rows(trial: Trial) -> list[tuple[str, ...]]:
    """The table of a trial: each budget, no privacy, the best fixed action, uniform play."""
    known, shown, rows = trial.question.known, trial.words, []
    for outcome in trial.outcomes:
        last, overall = outcome.last, outcome.overall
        numbers = shown(last.mean), f"{shown(last.low)} to {shown(last.high)}", shown(overall.mean)
        rows.append((outcome.who, *numbers, f"{outcome.learned:.0%}" if helped(trial) else ""))
    for who, reward in ((known.always, known.best), ("uniform play", known.uniform)):
        rows.append((who, shown(reward), "", shown(reward), ""))
    return rows


def setting_of(trial: Trial) -> str:
    """What was tried, in a line."""
    question = trial.question
    file, offers = question.file, question.contract.offers
    return (
        f"{question.rows:,} rows, {len(file.actions)} actions, {many(len(file.fields), 'field')} "
        f"({offers.dimension} coordinates); {file.learner}, {file.horizon:,} people, {many(trial.seeds, 'run')}"
    )


def draw_rewards(trial: Trial, narrow: bool = False) -> Figure:
    """Mean reward over people: each budget and no privacy, over the best fixed action and uniform play."""
    figure, (panel,) = panels(1, (7.8, 4.4), narrow=narrow)
    known, greens = trial.question.known, (CHOSEN * 9)[: len(trial.private)][::-1]
    for outcome, colour in zip(trial.outcomes, [*greens, NO_PRIVACY], strict=True):
        bands = [range_of(column) for column in outcome.windows.T]
        panel.plot(outcome.people, [band.mean for band in bands], color=colour, linewidth=2, label=outcome.who)
        low, high = [band.low for band in bands], [band.high for band in bands]
        panel.fill_between(outcome.people, low, high, color=colour, alpha=0.15, linewidth=0)
    panel.axhline(known.best, color=UNIFORM, linewidth=1.6, label=known.always)
    panel.axhline(known.uniform, color=UNIFORM, linewidth=1.6, linestyle=DOTTED, label="uniform play")
    panel.set(xlabel="people", ylabel="mean reward of a person", xlim=(0, trial.question.file.horizon))
    panel.xaxis.set_major_formatter(lambda people, _: f"{people:,.0f}")
    if narrow:
        panel.locator_params(axis="x", nbins=4)
    grid(panel)
    legend(panel, "below" if narrow else "beside", ncols=2 if narrow else 1)
    if not narrow:
        headline(figure, trial.question.name)
    return figure


def write_page(folder: Path, trial: Trial) -> Path:
    """Write `report.html` and `reward.png`; returns the page."""
    name = f"Would it have worked? {trial.question.name}"
    draw_rewards(trial).savefig(folder / "reward.png", dpi=160)
    notes = "".join(f"<li>{html.escape(one)}</li>" for one in remarks(trial))
    body = "\n".join(
        [
            f"<h1>{html.escape(name)}</h1><p class='lead'>{html.escape(setting_of(trial))}.</p>",
            verdict(verdicts(trial)),
            on_every_screen(lambda narrow: draw_rewards(trial, narrow), "Mean reward over people; bands: all runs"),
            f"<h2>Mean reward of a person</h2>{_table(trial)}",
            f"<h2>What to know</h2><ul>{notes}</ul><h2>What each person is promised</h2><ul>",
            *(promise_of(outcome.cell) for outcome in trial.private),
            f"</ul>{footer('Simulated with seed 0.')}",
        ]
    )
    page = folder / "report.html"
    page.write_text(whole_page(name, body), encoding="utf-8")
    return page


def _table(trial: Trial) -> str:
    """The table of the command, with the lift."""
    rows, uniform = [], float(trial.words(trial.question.known.uniform))
    for who, last, *others in table_rows(trial):
        lift = float(last) - uniform
        rows.append((who, last, f"{'+' if lift >= 0 else ''}{trial.words(lift)}", *others))
    headings = ("who", HEADINGS[1], "lift", *HEADINGS[2:])
    return table(headings, rows, chosen=range(len(trial.private)), note=NOTE)
