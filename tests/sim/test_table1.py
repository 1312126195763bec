"""Table 1: the fit finds what was put in, and a small row goes all the way to its page."""

import msgspec
import numpy as np
import pytest

from sottovoce.catalogue.algorithms import algorithms
from sottovoce.lab.table1 import measure
from sottovoce.lab.table1.fit import Exponent, exponent
from sottovoce.lab.table1.page import verdict, write_table1
from sottovoce.lab.table1.rows import ROWS
from sottovoce.sim.worlds import WORLDS

FIELDS = {
    "row", "preset", "quantity", "exponent", "exponent_low", "exponent_high", "theorem", "nonprivate", "epsilon",
    "regret_share",
}  # fmt: skip


def test_a_fit_finds_the_exponent_behind_noise_and_logarithm():
    """Regret 3 T^0.75 ln T, 20 % noise on each of 40 seeds; the interval is that wide, and holds the truth."""
    rng = np.random.default_rng(0)
    sizes = np.array([1e4, 3e4, 1e5, 3e5])
    logarithm = np.log(sizes)
    values = (3 * sizes**0.75 * logarithm)[:, None] * rng.lognormal(0, 0.2, (4, 40))
    fitted = exponent(sizes, values, logarithm)
    assert fitted.low < 0.75 < fitted.high
    assert 0.01 < fitted.high - fitted.low < 0.2
    assert exponent(sizes, values, np.ones(4)).value > fitted.value + 0.05


def test_the_rows_name_what_exists_and_no_epsilon_is_above_four():
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert row.learner in algorithms()
        assert row.world in WORLDS
        assert row.epsilon <= 4
        assert row.why
        assert all(rounds % 5_000 == 0 for rounds in row.horizons)


@pytest.fixture(scope="module")
def small() -> list[measure.Measured]:
    """One cheap row, in miniature."""
    row = next(row for row in ROWS if row.name == "arms-stochastic")
    row = msgspec.structs.replace(row, horizons=(500, 1000, 1500), seeds=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "CHUNK", 500)
        return measure.measure_row(row, quick=False)


def test_a_row_is_measured_for_both_presets_against_both_quantities(small: list[measure.Measured]):
    assert [(m.preset, m.axis.quantity) for m in small] == [
        ("practical", "rounds"), ("practical", "epsilon"), ("paper", "rounds"), ("paper", "epsilon"),
    ]  # fmt: skip
    for m in small:
        assert set(m.as_row()) >= FIELDS
        assert m.fitted.low <= m.fitted.value <= m.fitted.high
        assert 0 < m.regret_share < 1.5
    assert small[0].regret_share < small[2].regret_share


def test_the_page_says_what_is_not_shown(small: list[measure.Measured], tmp_path):
    steep = small[0]._replace(fitted=Exponent(0.9, 0.8, 1.0), regret_share=0.1)
    drowned = small[0]._replace(fitted=Exponent(0.0, 0.0, 0.0), regret_share=0.9)
    good = small[0]._replace(fitted=Exponent(0.0, 0.0, 0.04), regret_share=0.5)
    assert [verdict(m) for m in (steep, drowned, good)] == ["not shown", "too noisy yet", "shown"]
    page = write_table1(tmp_path, [steep, small[1]], quick=True).read_text()
    assert "Against rounds this row is not shown" in page
    assert "largest run was 1,500" in page
    assert (tmp_path / "arms-stochastic.png").stat().st_size > 10_000
