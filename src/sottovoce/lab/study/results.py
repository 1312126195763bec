"""A folder of results: what was run, with what, and every result. A study that was interrupted goes on where it was."""

import csv
import functools
import hashlib
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from sottovoce.catalogue.resolve import mechanism_of
from sottovoce.lab.study.cells import Cell, CellResult
from sottovoce.lab.study.file import Study
from sottovoce.report.page import versions


class Folder:
    """`manifest.json` (versions, configuration, seed), `cells/` (finished curves), `traces.csv` and `rows.json`.

    A sweep keeps `shards/` here instead of `cells/`.
    """

    def __init__(self, path: Path, study: Study) -> None:
        self.path, self.study = path, study
        self.cells = path / "cells"
        self.cells.mkdir(parents=True, exist_ok=True)
        manifest = manifest_of(study)
        if self._read_manifest() != manifest:  # other numbers or other code: what lies here does not belong to it
            for file in [*self.cells.glob("*.npz"), *path.glob("shards/*")]:
                file.unlink()
            (path / "manifest.json").write_text(json.dumps(manifest, indent=2))

    def load(self, cell: Cell) -> CellResult | None:
        """The finished curve of this cell, if there is one."""
        try:
            with np.load(self.cells / f"{cell.name}.npz") as stored:
                correct = stored.get("correct")
                seconds = float(stored["seconds"])
                required = (stored["rounds"], stored["regret"], seconds, stored["samples"], stored["stopped"])
                return CellResult(cell, *required, correct)
        except (OSError, KeyError, ValueError, zipfile.BadZipFile):
            return None

    def save(self, result: CellResult) -> None:
        """Written whole or not at all."""
        target = self.cells / f"{result.cell.name}.npz"
        partial = target.with_suffix(".partial.npz")
        arrays = {name: getattr(result, name) for name in result._fields[1:]}
        np.savez(partial, **{name: array for name, array in arrays.items() if array is not None})
        partial.replace(target)

    def export(self, results: list[CellResult], parquet: bool = False) -> None:
        """Every curve as one table, and the rows of `--json`."""
        columns = ("role", "world", "epsilon", "seed", "rounds", "regret")
        if parquet:
            _write_parquet(self.path / "traces.parquet", columns, list(_long(results)))
        else:
            with (self.path / "traces.csv").open("w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(columns)
                writer.writerows(_long(results))
        (self.path / "rows.json").write_text(json.dumps({"rows": [row(self.study, r) for r in results]}, indent=2))

    def _read_manifest(self) -> Any:
        try:
            return json.loads((self.path / "manifest.json").read_text())
        except (OSError, ValueError):
            return None


def row(study: Study, result: CellResult) -> dict[str, Any]:
    """One row of the stable JSON contract."""
    cell, contract = result.cell, result.cell.task
    mean, low, high = result.last()
    uniform = cell.role == "uniform"
    return {
        "role": cell.role,
        "learner": "uniform" if uniform else contract.learner,
        "preset": None if uniform else contract.preset,
        "mechanism": contract.mechanism if cell.reports else None,
        "world": cell.world_name,
        "dimension": study.dimension,
        "arms": study.arms,
        "region": dict(study.region),
        "options": dict(study.options),
        "epsilon": contract.epsilon if cell.private else None,
        "delta": contract.delta if cell.private else None,
        "rounds": study.rounds,
        "seeds": study.seeds,
        "publish_every": study.publish_every,
        "delay": study.delay,
        "regret": mean,
        "regret_low": low,
        "regret_high": high,
        "growth": None if np.isnan(result.growth()) else result.growth(),
        "bytes_per_report": mechanism_of(contract).report_size if cell.reports else None,
        "seconds": result.seconds,
        **_best_arm(result),
    }


def _best_arm(result: CellResult) -> dict[str, float]:
    """What a run that looks for the best arm adds: mean samples, the shares of right answers and of stopped runs."""
    if result.correct is None:
        return {}
    return {
        "samples": float(result.samples.mean()),
        "correct": float(result.correct.mean()),
        "stopped": float(result.stopped.mean()),
    }


def manifest_of(study: Study) -> dict[str, Any]:
    """What results depend on."""
    return {"study": msgspec.to_builtins(study), **made_with()}


@functools.cache
def made_with() -> dict[str, Any]:
    """The versions and the code that results were made with."""
    return {"versions": versions(), "code": code_digest()}


def code_digest() -> str:
    """A hash of our own source: results of another version are never taken for this one's."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256()
    for file in sorted([*root.rglob("*.py"), *root.rglob("*.toml")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _long(results: list[CellResult]) -> Any:
    for result in results:
        epsilon = result.cell.task.epsilon if result.cell.private else None
        for seed, regrets in enumerate(result.regret):
            for rounds, regret in zip(result.rounds, regrets, strict=True):
                yield result.cell.role, result.cell.world_name, epsilon, seed, int(rounds), float(regret)


def _write_parquet(path: Path, columns: tuple[str, ...], rows: list[tuple]) -> None:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({name: list(values) for name, values in zip(columns, zip(*rows, strict=True), strict=True)})
    pyarrow.parquet.write_table(table, path)
