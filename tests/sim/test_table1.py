"""Table 1: the fit finds what was put in, and a small row goes all the way to its page."""

import msgspec
import numpy as np
import pytest

from sottovoce.catalogue.algorithms import algorithms
from sottovoce.lab.table1 import measure
from sottovoce.lab.table1.fit import Exponent, exponent, growth
from sottovoce.lab.table1.page import verdict, write_table1
from sottovoce.lab.table1.rows import ROWS
from sottovoce.sim.worlds import WORLDS

FIELDS = {
    "row", "preset", "quantity", "exponent", "exponent_low", "exponent_high", "local_slopes", "theorem", "growth",
    "shown", "left", "kept", "reference", "reference_exponent", "reference_left",
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


def test_the_rows_name_what_exists_and_no_row_is_judged_above_epsilon_eight():
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert set(row.presets) <= set(algorithms()[row.learner].presets)
        assert row.reference.preset in algorithms()[row.reference.learner].presets
        assert row.world in WORLDS
        assert max(row.epsilon, *row.epsilons) <= 8
        assert row.why
        assert all(rounds % 5_000 == 0 for rounds in row.horizons)


def test_every_row_has_enough_points_and_the_explicit_constants_have_a_row_of_their_own():
    assert all(len(row.sizes) >= measure.LEAST and len(row.epsilons) >= measure.LEAST for row in ROWS)
    assert ("glm", ("explicit",)) in [(row.learner, row.presets) for row in ROWS]


def axis_of(sizes: list[float], theorem: float) -> measure.Axis:
    ones = np.ones(len(sizes))
    return measure.Axis("rounds", [(size, 1.0) for size in sizes], np.array(sizes), theorem, "", ones, "", ones)


def test_points_where_little_is_learned_do_not_count():
    """A flat start would halve the exponent 1 of the rest; with two points left there is no fit at all."""
    axis = axis_of([1.0, 10.0, 100.0, 1000.0], 1.0)
    values = np.outer([10.0, 10.0, 100.0, 1000.0], np.ones(5))
    every = measure.fit_points(axis, values, np.array([0.5, 0.5, 0.4, 0.3]), most=0.5)
    some = measure.fit_points(axis, values, np.array([0.51, 0.5, 0.4, 0.3]), most=0.5)
    few = measure.fit_points(axis, values, np.array([0.9, 0.6, 0.4, 0.3]), most=0.5)
    assert every.fitted is not None
    assert every.fitted.value < 0.75
    assert some.fitted == Exponent(1.0, 1.0, 1.0)
    assert some.slopes.tolist() == pytest.approx([1.0, 1.0])
    assert few.fitted is None


def test_growth_has_two_sides_and_wide_intervals_say_nothing():
    intervals = [(0.30, 0.44), (0.30, 0.46), (0.54, 0.60), (0.56, 0.60), (0.40, 0.61)]
    read = [growth(Exponent(low, low, high), 0.5) for low, high in intervals]
    assert read == ["slower", "as", "as", "faster", "unclear"]


@pytest.fixture(scope="module")
def small() -> list[measure.Measured]:
    """One cheap row, in miniature."""
    row = next(row for row in ROWS if row.name == "arms-stochastic")
    row = msgspec.structs.replace(row, horizons=(500, 1000, 1500), epsilon_size=500.0, seeds=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "CHUNK", 500)
        return measure.measure_row(row)


def test_a_row_is_measured_for_both_presets_against_both_quantities(small: list[measure.Measured]):
    assert [(m.preset, m.axis.quantity) for m in small] == [
        ("practical", "rounds"), ("practical", "epsilon"), ("paper", "rounds"), ("paper", "epsilon"),
    ]  # fmt: skip
    for m in small:
        assert set(m.as_row()) >= FIELDS
        assert len(m.points.left) == len(m.axis.sizes)
        assert np.all((m.points.left > 0) & (m.points.left < 1.5))
    assert small[0].points.left[-1] < small[2].points.left[-1]
    assert small[0].reference is not None
    assert small[0].reference.values.mean() < small[0].points.values.mean()
    assert small[1].reference is None


def test_staying_in_the_middle_is_the_yardstick_where_it_costs_less_than_random_points():
    """A target at half depth: the middle loses 0.25 a round, a random point of the disc more."""
    row = next(row for row in ROWS if row.name == "one-point-convex")
    row = msgspec.structs.replace(row, options={"depth": 0.5}, seeds=2)
    assert measure.idle_regret(row, 200.0, 1.0) == pytest.approx(0.25 * 200)


def test_the_page_says_what_is_not_shown(small: list[measure.Measured], tmp_path):
    with_fit = lambda fitted: small[0]._replace(points=small[0].points._replace(fitted=fitted))  # noqa: E731
    steep, good, none = (with_fit(f) for f in (Exponent(0.9, 0.8, 1.0), Exponent(0.0, 0.0, 0.04), None))
    assert [m.shown for m in (steep, good, none)] == [False, True, False]
    assert [verdict(m) for m in (steep, good)] == ["no", "yes"]
    assert verdict(none).startswith("cannot be shown ")
    page = write_table1(tmp_path, [steep, small[1]], quick=True).read_text()
    assert "Against rounds this row is not shown" in page
    assert "the interval ends at 1.00, the theorem says 0.00" in page
    assert "arms-stochastic | practical | rounds" in (tmp_path / "table1.md").read_text()
    assert (tmp_path / "arms-stochastic.png").stat().st_size > 10_000
