"""The mechanisms: what is promised and with which integers, as frozen data. Each docstring is the proof.

Nothing here draws randomness. `exact` draws on the device, `decode` reads on the server, `sim.noise` imitates.
`calibration` is the only place that makes these values; `promise.verify` checks those that came from elsewhere.
"""

from dataclasses import asdict, dataclass
from typing import Any

from sottovoce.privacy.domains import Domain, Interval
from sottovoce.protocol.budget import Budget

RESOLUTION = 2**24
"""Steps of the grid in one unit of noise scale, for discrete Gaussian and Laplace."""


@dataclass(frozen=True)
class Levels:
    """k-level randomised response, for one number in a declared range. Pure epsilon.

    The number is rounded at random to one of k equally spaced levels so that its mean is kept; then the true level is
    sent with weight `keep` and each other level with weight `flip`, integers.

    *Proof.* Whatever the rounding did, every output has probability keep/W or flip/W with W = keep + (k-1) flip, the
    same for all inputs. Two probabilities of one output differ by at most keep/flip <= e^epsilon. QED.
    """

    domain: Interval
    budget: Budget
    levels: int
    keep: int
    flip: int

    @property
    def width(self) -> int:
        """Bytes of one level on the wire."""
        return 1 if self.levels <= 256 else 2


@dataclass(frozen=True)
class Sphere:
    """The sphere codebook, for a message of bounded norm. Pure epsilon, a few bytes whatever the dimension.

    A fresh random seed defines `candidates` unit vectors; the `cap` nearest to the message (lifted to the sphere by one
    slack coordinate) are the cap. Index i is sent with weight `inside` in the cap and `outside` elsewhere, integers.

    *Proof.* Fix the seed: it is drawn before the message is looked at. Every message has exactly `cap` candidates of
    weight `inside` and candidates - cap of weight `outside`, so the normaliser is the same for all messages and two
    probabilities of one (seed, i) differ by at most inside/outside <= e^epsilon. QED. No floating-point number, no
    symmetry of the codebook and no honest server is needed: a wrong ranking costs accuracy, never privacy.

    Kin: PrivUnit (Bhowmick et al. 2018, arXiv 1812.00984); k-closest encoding (Isik et al. 2023, arXiv 2306.04924).
    """

    domain: Domain
    budget: Budget
    candidates: int
    cap: int
    inside: int
    outside: int
    mean: float
    """E<candidate sent, message>: the server divides by it."""


@dataclass(frozen=True)
class Gaussian:
    """Discrete Gaussian noise on a grid, one scale per block of the message. (epsilon, delta).

    *Proof.* Each coordinate is rounded to a grid of step scale / RESOLUTION, which adds at most two steps a coordinate
    to the distance of two messages (float error included); that distance, in units of the noise, is Delta. Rounded
    continuous Gaussian noise would give exactly delta(epsilon, Delta) of Balle and Wang (2018, Theorem 8), by
    post-processing. The discrete Gaussian (Canonne, Kamath, Steinke 2020) is near that in two ways, and the calibration
    pays for the cheaper one. By total variation: within RESOLUTION^-2 / 12 per coordinate, which adds (1 + e^epsilon)
    times so much to delta. By ratio: up to 40 deviations the two differ by a factor of at most e^r with
    r = 200 RESOLUTION^-2 (cosh u <= e^(u^2/2) within one grid step), so n coordinates cost e^(nr) delta(epsilon - 2nr);
    what is farther out has a probability below 1e-80. Both slacks together are below 1e-4 of the noise for epsilon of
    0.1 and more, and are paid for whatever they are.

    `formula` is "analytic", or "classical" for the paper's sqrt(2 ln(1.25/delta))/epsilon, which is refused on a device
    where it misses the promise.
    """

    domain: Domain
    budget: Budget
    scales: tuple[float, ...]
    formula: str = "analytic"


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise on a grid, one scale per block of the message. Pure epsilon.

    *Proof.* P(k) ~ exp(-|k| / RESOLUTION) on the integers. Two rounded messages that are n steps apart in L1 have
    likelihoods within e^(n / RESOLUTION). n / RESOLUTION is the domain's scaled L1 distance plus two steps a coordinate
    for rounding, and the scales are chosen so that this is at most epsilon. QED.
    """

    domain: Domain
    budget: Budget
    scales: tuple[float, ...]


Mechanism = Levels | Sphere | Gaussian | Laplace

MECHANISMS: dict[str, type] = {
    "levels": Levels,
    "sphere": Sphere,
    "gaussian": Gaussian,
    "laplace": Laplace,
}


def name_of(mechanism: Mechanism) -> str:
    """The registry name of a mechanism."""
    return type(mechanism).__name__.lower()


def numbers_of(mechanism: Mechanism) -> dict[str, Any]:
    """The mechanism's own numbers; its kind and its domain stand elsewhere in a contract."""
    return {name: value for name, value in asdict(mechanism).items() if name not in ("domain", "budget")}
