"""The page of a study: its figures, a table, and what each person is promised."""

import html
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from sottovoce.catalogue.algorithms import algorithm_of
from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.lab.study.cells import Cell, CellResult, notices_of
from sottovoce.lab.study.figures import draw_answers, draw_regret
from sottovoce.lab.study.file import Study
from sottovoce.privacy.grid.mechanism import Gaussian
from sottovoce.report.figure import svg_of
from sottovoce.report.page import footer, table, whole_page

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
REGRET_NOTE = """Regret: what was lost against always playing the best action. Growth: its exponent over the second half
of the run; 1 means nothing is learned any more. Intervals: Student's t over seeds."""
ANSWER_NOTE = """People asked: the mean over runs. Right: the share of runs in which nothing beats what was recommended.
Stopped: the share of runs that ended before the people did."""


def write_report(folder: Path, study: Study, results: Sequence[CellResult]) -> Path:
    """Write `report.html` and its figures (`regret.png`, and `answers.png` for a best arm); returns the page."""
    title = study.title or algorithm_of(study.learner).title
    sections = [section_of(folder, "regret", draw_regret(title, results), _regret_table(results))]
    if judged := [result for result in results if result.correct is not None]:
        sections.insert(0, section_of(folder, "answers", draw_answers(title, judged), _answer_table(judged)))
    cells = [result.cell for result in results]
    body = "\n".join(
        [
            f"<h1>{html.escape(title)}</h1><p class='lead'>{html.escape(setting_of(study))} {_trust(cells)}</p>",
            *sections,
            "<h2>What each person is promised</h2><ul>",
            *dict.fromkeys(promise_of(cell) for cell in cells if cell.private),
            f"</ul>{footer(f'Simulated with seed {study.seed}.', *notices_of(cells))}",
        ]
    )
    page = folder / "report.html"
    page.write_text(whole_page(title, body), encoding="utf-8")
    return page


def section_of(folder: Path, name: str, figure: Figure, rows: str) -> str:
    """A figure, also written to the folder, and what stands below it."""
    figure.savefig(folder / f"{name}.png", dpi=160)
    return f"<figure>{svg_of(figure)}</figure>\n{rows}"


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
    headings = ("world", "who", "promise to each person", *columns)
    rows = [(r.cell.world_name, r.cell.who, r.cell.promise, *row) for r, row in zip(results, cells, strict=True)]
    chosen = [place for place, result in enumerate(results) if result.cell.role == "chosen"]
    return f"<h2>{title}</h2>{table(headings, rows, words=3, chosen=chosen)}<p class='note'>{note}</p>"


def _regret_table(results: Sequence[CellResult]) -> str:
    cells = []
    for result in results:
        mean, low, high = result.last()
        regret = f"{mean:,.0f}  ({low:,.0f} to {high:,.0f})"
        cells.append([regret, f"{result.growth():.2f}", f"{result.seconds:.1f}"])
    return _table("Regret at the end", ("regret (95 % interval)", "growth", "seconds"), results, cells, REGRET_NOTE)


def _answer_table(results: Sequence[CellResult]) -> str:
    cells = []
    for result in results:
        share, low, high = result.right()
        right = f"{share:.0%}  ({low:.0%} to {high:.0%})"
        cells.append([f"{result.samples.mean():,.0f}", right, f"{result.stopped.mean():.0%}"])
    columns = ("people asked", "right (95 % interval)", "stopped")
    return _table("The answers", columns, results, cells, ANSWER_NOTE)


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
