"""The device side: exact samplers, reports of constant length, and the bytes themselves."""

import json
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import opendp.prelude as dp
import pytest
from gates import ALARM, Gate, SeededEntropy
from scipy import special, stats

from scripted import ScriptedEntropy
from sottovoce import Ball, Budget, Interval, Moments, calibrate, privatise
from sottovoce.privacy.domains import domain_from, size
from sottovoce.privacy.drawing import DRAWS, SYSTEM, Entropy, SystemEntropy
from sottovoce.privacy.grid.draw import bernoulli_exp, discrete_gaussian, discrete_laplace, on_grid
from sottovoce.privacy.grid.mechanism import RESOLUTION, Laplace
from sottovoce.privacy.mechanisms import MECHANISMS, check, mechanism_from, numbers_of, verify
from sottovoce.protocol.errors import BadInput, BrokenPromise, ConfigurationError, UnknownName

GOLDEN = json.loads((Path(__file__).parent.parent / "golden" / "reports.json").read_text("utf-8"))


# --- bytes written down, shared with every other device ---------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["what"])
def test_the_same_datum_and_the_same_draws_give_the_bytes_written_down(case: dict[str, Any]):
    domain = domain_from(case["domain"])
    mechanism = mechanism_from(case["mechanism"], domain, Budget(case["epsilon"], case["delta"]), case["numbers"])
    message = domain.embed(*case["datum"])
    np.testing.assert_allclose(message, case["message"], rtol=1e-15, atol=1e-300)
    entropy = ScriptedEntropy(case["entropy"])
    report = privatise(mechanism, message, entropy)
    assert report.hex() == case["report"]
    assert entropy.script == []
    check(mechanism, report)
    np.testing.assert_allclose(mechanism.decode([report])[0], case["decoded"], rtol=1e-12)


def test_the_bytes_written_down_cover_every_mechanism():
    assert {case["mechanism"] for case in GOLDEN} == set(MECHANISMS) == set(DRAWS)


def test_a_mechanism_is_built_again_from_the_numbers_that_a_contract_carries(gate: Gate):
    mechanism = gate.calibrated(2.0)
    carried = json.loads(json.dumps(numbers_of(mechanism)))
    assert mechanism_from(gate.name, gate.domain, mechanism.budget, carried) == mechanism


def test_numbers_that_describe_no_mechanism_or_no_domain_are_refused():
    with pytest.raises(UnknownName, match="unknown mechanism 'levles'"):
        mechanism_from("levles", Interval(), Budget(1.0), {})
    with pytest.raises(BrokenPromise, match="do not describe levels"):
        mechanism_from("levels", Interval(), Budget(1.0), {"levels": 2})
    with pytest.raises(BrokenPromise, match="one positive scale per block"):
        mechanism_from("laplace", Interval(), Budget(1.0), {"scales": ["2.1"]})
    with pytest.raises(UnknownName, match="unknown domain 'cube'"):
        domain_from({"kind": "cube"})
    with pytest.raises(ConfigurationError, match="do not describe a domain of kind ball"):
        domain_from({"kind": "ball", "side": 2.0})


# --- reports ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [0.0, 1e-9, 0.3, 1.0, -1.0, 1e9])
def test_every_report_has_the_same_length_whatever_it_says(gate: Gate, scale: float, entropy: SeededEntropy):
    mechanism = gate.calibrated(2.0)
    lengths = {len(privatise(mechanism, gate.message(scale), entropy)) for _ in range(20)}
    assert lengths == {mechanism.coin_size + mechanism.report_size}


def test_a_report_is_drawn_from_the_operating_system_unless_a_test_says_otherwise(gate: Gate):
    assert isinstance(SYSTEM, SystemEntropy)
    mechanism = calibrate("sphere", gate.domain, Budget(1.0))
    assert len({privatise(mechanism, gate.message()) for _ in range(20)}) == 20  # 96 bits of seed


@pytest.mark.parametrize("wrong", [np.zeros(2), np.zeros(4), np.zeros((1, 3)), np.zeros(())], ids=np.shape)
def test_a_message_of_another_shape_is_refused(wrong: np.ndarray):
    with pytest.raises(BadInput, match="3 numbers, got shape"):
        privatise(calibrate("sphere", Ball(3), Budget(1.0)), wrong)


@pytest.mark.parametrize(("noise", "wire"), [(2**70, "7fffffffffffffff"), (-(2**70), "8000000000000001")])
def test_noise_beyond_64_bits_saturates(noise: int, wire: str):
    mechanism = calibrate("laplace", Interval(), Budget(1.0))
    assert isinstance(mechanism, Laplace)
    assert on_grid(mechanism, np.zeros(1), [noise]).hex() == wire


# --- the samplers ----------------------------------------------------------------------------------------------------

Sampler = Callable[[int, Entropy], int]


def laplace_mass(k: np.ndarray, scale: float) -> np.ndarray:
    return stats.dlaplace.pmf(k, 1 / scale)


def gaussian_mass(k: np.ndarray, sigma: float) -> np.ndarray:
    wide = np.arange(-60 * math.ceil(sigma), 60 * math.ceil(sigma) + 1)
    return np.exp(-(k**2) / (2 * sigma**2)) / np.sum(np.exp(-(wide**2) / (2 * sigma**2)))


SAMPLERS = [(discrete_laplace, laplace_mass), (discrete_gaussian, gaussian_mass)]


def fits(samples: list[int], mass: Callable[[np.ndarray, float], np.ndarray], scale: float) -> bool:
    """Chi-square against the probabilities, on bins that expect at least ten samples, false alarms 1e-6."""
    reach = np.arange(-40 * math.ceil(scale), 40 * math.ceil(scale) + 1)
    counts = Counter(samples)
    expected, observed, bins = 0.0, 0, []
    for k, probability in zip(reach.tolist(), mass(reach, scale) * len(samples), strict=True):
        expected, observed = expected + float(probability), observed + counts.pop(k, 0)
        if expected >= 10:
            bins.append((observed, expected))
            expected, observed = 0.0, 0
    bins.append((observed + sum(counts.values()), max(expected, 1e-3)))
    table = np.array(bins)
    return bool(stats.chi2.sf(np.sum((table[:, 0] - table[:, 1]) ** 2 / table[:, 1]), len(table) - 1) > ALARM)


@pytest.mark.parametrize(("sampler", "mass"), SAMPLERS)
@pytest.mark.parametrize("scale", [1, 2, 5, 16])
def test_a_sampler_draws_from_its_distribution_and_from_no_other_scale(
    sampler: Sampler, mass: Callable[[np.ndarray, float], np.ndarray], scale: int, entropy: SeededEntropy
):
    samples = [sampler(scale, entropy) for _ in range(8000)]
    assert fits(samples, mass, scale)
    assert not fits(samples, mass, 2 * scale)
    assert not fits(samples, mass, scale / 2)
    assert not fits(samples, mass, 1.3 * scale)


@pytest.mark.parametrize("sampler", [sampler for sampler, _ in SAMPLERS])
def test_noise_at_full_resolution_has_the_right_shape(sampler: Sampler, entropy: SeededEntropy):
    law = stats.laplace if sampler is discrete_laplace else stats.norm
    samples = np.array([sampler(RESOLUTION, entropy) for _ in range(8000)]) / RESOLUTION
    assert stats.kstest(samples, law.cdf).pvalue > ALARM
    assert stats.kstest(samples * 1.2, law.cdf).pvalue < ALARM


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 7), (1, 3), (5, 5), (7, 3), (9, 2)])
def test_a_coin_of_probability_exp_minus_x_is_exact(numerator: int, denominator: int, entropy: SeededEntropy):
    tosses = 20_000
    heads = sum(bernoulli_exp(numerator, denominator, entropy) for _ in range(tosses))
    probability = math.exp(-numerator / denominator)
    assert stats.binomtest(heads, tosses, probability).pvalue > ALARM
    if numerator:
        assert stats.binomtest(heads, tosses, probability**1.3).pvalue < ALARM


@pytest.fixture(scope="module")
def opendp() -> Any:
    """The oracle. Its samples come from the operating system: these tests err once in a million runs."""
    dp.enable_features("contrib")
    return dp


@pytest.mark.parametrize(("sampler", "name"), [(discrete_laplace, "laplace"), (discrete_gaussian, "gaussian")])
def test_opendp_draws_from_the_same_distribution(opendp: Any, sampler: Sampler, name: str, entropy: SeededEntropy):
    metric = opendp.l1_distance(T=int) if name == "laplace" else opendp.l2_distance(T=float)
    theirs = getattr(opendp.m, f"make_{name}")(opendp.vector_domain(opendp.atom_domain(T=int)), metric, scale=5.0)
    samples = np.array(theirs([0] * 8000))
    edges = [-math.inf, *(np.array([-9, -6, -4, -2, 0, 2, 4, 6, 9]) + 0.5), math.inf]

    def agrees(scale: int) -> bool:
        ours = [sampler(scale, entropy) for _ in range(8000)]
        table = [np.histogram(numbers, edges)[0] for numbers in (ours, samples)]
        return stats.chi2_contingency(table).pvalue > ALARM

    assert agrees(5)
    assert not agrees(10)


@pytest.mark.parametrize("domain", [Interval(), Ball(3, 2.0), Moments(3)], ids=str)
def test_opendp_certifies_the_same_epsilon_for_laplace_noise(opendp: Any, domain: Any):
    mechanism = calibrate("laplace", domain, Budget(1.3))
    integers = opendp.vector_domain(opendp.atom_domain(T=int))
    theirs = opendp.m.make_laplace(integers, opendp.l1_distance(T=int), scale=float(RESOLUTION))
    steps = math.ceil(domain.l1(mechanism.scales) * RESOLUTION) + size(domain)  # rounding: a step a coordinate
    assert 1.3 * (1 - 1e-5) <= theirs.map(steps) <= 1.3


@pytest.mark.parametrize("domain", [Interval(), Ball(3, 2.0), Moments(3)], ids=str)
def test_opendp_certifies_gaussian_noise_with_a_bound_that_is_never_below_ours(opendp: Any, domain: Any):
    mechanism = calibrate("gaussian", domain, Budget(1.0, 1e-5))
    integers = opendp.vector_domain(opendp.atom_domain(T=int))
    theirs = opendp.m.make_gaussian(integers, opendp.l2_distance(T=float), scale=float(RESOLUTION))
    distance = domain.l2(mechanism.scales)
    steps = distance * RESOLUTION + math.sqrt(size(domain))
    assert theirs.map(steps) == pytest.approx(distance**2 / 2, rel=1e-5)
    bound = opendp.c.make_zCDP_to_approxDP(theirs).map(steps).delta(1.0)
    assert mechanism.true_delta <= bound <= 10 * mechanism.true_delta


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_opendp_certifies_the_same_epsilon_for_randomised_response(opendp: Any, epsilon: float):
    mechanism = calibrate("levels", Interval(), Budget(epsilon))
    verify(mechanism)
    truthful = mechanism.keep / (mechanism.keep + (mechanism.levels - 1) * mechanism.flip)
    theirs = opendp.m.make_randomized_response(categories=list(range(mechanism.levels)), prob=truthful)
    assert theirs.map(1) == pytest.approx(epsilon, rel=1e-5)


# --- the proof of the discrete Gaussian ------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [8, 16, 32])
def test_thediscrete_gaussian_is_as_close_to_the_rounded_one_as_its_proof_says(sigma: int):
    k = np.arange(0, 12 * sigma + 1)
    # Rounded: the mass between k - 1/2 and k + 1/2, as a difference of upper tails.
    rounded = special.ndtr(-(k - 0.5) / sigma) - special.ndtr(-(k + 0.5) / sigma)
    discrete = gaussian_mass(k, sigma)
    distance = 0.5 * float(np.sum(np.where(k > 0, 2, 1) * np.abs(discrete - rounded)))
    assert distance <= 1 / (12 * sigma**2)
    assert distance > 1 / (60 * sigma**2)  # and not much closer: twice the scale would fail
    # What accounting uses: the ratio of the two is e^(1/(8 sigma^2)) at most, times the square of the deviations.
    near = k <= 6 * sigma
    ratio = np.abs(np.log(rounded[near] / discrete[near]))
    assert np.all(ratio <= np.maximum(1, (k[near] / sigma) ** 2) / (8 * sigma**2))
