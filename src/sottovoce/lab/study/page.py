"""The page of a study: the verdict, its figures, tables of regret and lift, and what each person is promised."""

import html
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.lab.study.cells import Cell, CellResult, notices_of
from sottovoce.lab.study.figures import draw_answers, draw_regret
from sottovoce.lab.study.file import Study
from sottovoce.privacy.grid.mechanism import Gaussian
from sottovoce.report.figure import on_every_screen
from sottovoce.report.page import footer, lift_in_words, table, verdict, whole_page

TRUST = {
    "local": "In the rows with a promise the server saw noisy reports only.",
    "central": "In the rows with a promise a trusted curator saw raw data: simulation only.",
    "none": "The learner saw raw data: simulation only.",
}
RAW = "In the row “no privacy” it saw raw data, for comparison."
PROMISED = {
    "central": "kept by the curator in what is published; the curator sees everything.",
    "none": "nothing; the learner sees everything.",
}
REGRET_NOTE = """After all people, mean over seeds. Lift: reward that a person got more than under uniform play, in
units of the reward. Of the possible: the share of the way from uniform play to always playing the best action.
Regret: what all people together lost against that. Growth: the exponent of the regret over the second half of the
run; 1 means nothing is learned any more. In brackets: 95 % intervals, Student's t over seeds."""
ANSWER_NOTE = """People asked: the mean over runs. Right: the share of runs in which nothing beats what was
recommended, and its 95 % interval. Stopped: the share of runs that ended before the people did."""
MOST = 6
"""Sentences before the figure."""


def write_report(folder: Path, study: Study, results: Sequence[CellResult]) -> Path:
    """Write `report.html` and its figures (`regret.png`, and `answers.png` for a best arm); returns the page."""
    title = study.title or algorithm_of(study.learner).title
    judged = [result for result in results if result.correct is not None]
    regret = lambda narrow: draw_regret(title, results, narrow)  # noqa: E731
    sections = [section_of(folder, "regret", regret, "Regret over people", _regret_table(results))]
    if judged:
        answers = lambda narrow: draw_answers(title, judged, narrow)  # noqa: E731
        sections.insert(0, section_of(folder, "answers", answers, "People asked", _answer_table(judged)))
    cells = [result.cell for result in results]
    body = "\n".join(
        [
            f"<h1>{html.escape(title)}</h1><p class='lead'>{html.escape(setting_of(study))}</p>",
            verdict(_answers_in_words(judged) if judged else lifts_in_words(results)),
            f"<p class='note'>{_trust(cells)}</p>",
            *sections,
            "<h2>What each person is promised</h2><ul>",
            *dict.fromkeys(promise_of(cell) for cell in cells if cell.private),
            f"</ul>{footer(f'Simulated with seed {study.seed}.', *notices_of(cells))}",
        ]
    )
    page = folder / "report.html"
    page.write_text(whole_page(title, body), encoding="utf-8")
    return page


def lifts_in_words(results: Sequence[CellResult]) -> list[str]:
    """A sentence for each budget in each world: what the learner gave people, beside no privacy."""
    several, sentences = len({result.cell.world_name for result in results}) > 1, []
    for result in results:
        if result.cell.role == "chosen":
            same = {r.cell.role: r for r in results if r.cell.world_name == result.cell.world_name}
            more, share = lift_in_words(result.lift_over(same["uniform"])[0]), share_of(result, same["uniform"])
            open_share = share_of(same["non-private"], same["uniform"]) if "non-private" in same else None
            beside = f"; without privacy {open_share:.0%}" if open_share is not None else ""
            where = f"{result.cell.world_name}: " if several else ""
            start = f"{where}{'at' if where else 'At'} epsilon {result.cell.task.epsilon:g}"
            sentences.append(f"{start} a person got {more}, {share:.0%} of what is possible{beside}.")
    return sentences[:MOST]


def share_of(result: CellResult, uniform: CellResult) -> float:
    """How far the result is on the way from uniform play (0) to always playing the best action (1)."""
    return 1 - result.last()[0] / max(uniform.last()[0], 1e-300)


def _answers_in_words(judged: Sequence[CellResult]) -> list[str]:
    chosen = [result for result in judged if result.cell.role == "chosen"]
    return [
        f"At epsilon {r.cell.task.epsilon:g} it asked {r.samples.mean():,.0f} people, and was right in "
        f"{r.right()[0]:.0%} of {len(r.samples)} runs ({r.cell.world_name})."
        for r in chosen
    ][:MOST]


def section_of(folder: Path, name: str, draw: Callable[[bool], Figure], label: str, rows: str) -> str:
    """A figure, also written to the folder, and what stands below it; `draw` is told whether the page is narrow."""
    wide = draw(False)
    wide.savefig(folder / f"{name}.png", dpi=160)
    return f"{on_every_screen(lambda narrow: draw(True) if narrow else wide, label)}\n{rows}"


def _trust(cells: Sequence[Cell]) -> str:
    """Who saw what; true for every row of the page."""
    raw = RAW if any(cell.role == "non-private" for cell in cells) else ""
    return f"{TRUST[algorithm_of(cells[0].task.learner).trust]} {raw}".strip()


def setting_of(study: Study) -> str:
    """What was simulated, in a sentence."""
    shape = f"{study.arms} actions" + (f", features of length {study.dimension}" if study.dimension else "")
    if algorithm_of(study.learner).actions == "points":
        shape = f"points of a {study.region.get('kind', 'ball')} in {study.dimension} dimensions"
    options = "".join(f", {name} {value}" for name, value in study.options.items())
    late = f", a model every {study.publish_every} rounds" if study.publish_every > 1 else ""
    late += f", reports {study.delay} rounds late" if study.delay else ""
    return f"{study.rounds:,} people, {study.seeds} seeds; {shape}{options}{late}."


def _table(title: str, columns: Sequence[str], results: Sequence[CellResult], cells: list[list[str]], note: str) -> str:
    several = len({result.cell.world_name for result in results}) > 1
    headings = ("who", "promise", *["world"][: int(several)], *columns)
    rows = [
        (r.cell.who, r.cell.promise, *[r.cell.world_name][: int(several)], *row)
        for r, row in zip(results, cells, strict=True)
    ]
    chosen = [place for place, result in enumerate(results) if result.cell.role == "chosen"]
    return f"<h2>{title}</h2>{table(headings, rows, words=2 + several, chosen=chosen, note=note)}"


def _regret_table(results: Sequence[CellResult]) -> str:
    uniform = {result.cell.world_name: result for result in results if result.cell.role == "uniform"}
    cells = []
    for result in results:
        base = uniform[result.cell.world_name]
        mean, low, high = result.last()
        lift, least, most = result.lift_over(base)
        cells.append(
            [
                f"{lift:.3f} ({least:.3f} to {most:.3f})",
                f"{share_of(result, base):.0%}",
                f"{mean:,.0f} ({low:,.0f} to {high:,.0f})",
                f"{result.growth():.2f}",
            ]
        )
    columns = ("lift a person (95 %)", "of the possible", "regret (95 %)", "growth")
    return _table("Lift and regret", columns, results, cells, REGRET_NOTE)


def _answer_table(results: Sequence[CellResult]) -> str:
    cells = []
    for result in results:
        share, low, high = result.right()
        right = f"{share:.0%} ({low:.0%} to {high:.0%})"
        cells.append([f"{result.samples.mean():,.0f}", right, f"{result.stopped.mean():.0%}"])
    return _table("The answers", ("people asked", "right (95 %)", "stopped"), results, cells, ANSWER_NOTE)


def promise_of(cell: Cell) -> str:
    """What one person is promised, and what it is worth."""
    if not cell.reports:
        return f"<li><b>{html.escape(cell.label)}</b>: {PROMISED[algorithm_of(cell.task.learner).trust]}</li>"
    mechanism = mechanism_of(cell.task)
    size = mechanism.report_size
    text = f"<b>{html.escape(cell.label)}</b>: {cell.task.mechanism}, {'one byte' if size == 1 else f'{size} bytes'}"
    if isinstance(mechanism, Gaussian):
        delta = mechanism.true_delta
        verdict = "keeps it" if delta <= cell.task.delta else "<b>does not keep it</b>: simulation only"
        worth = f"Promised delta {cell.task.delta:g}; the noise gives {delta:.2g} and {verdict}."
    else:
        worth = "Pure: no delta."
    return f"<li>{text} a report. {worth}</li>"
