"""The registry of mechanisms, and what is done with any of them.

Each mechanism is a folder; here it is a line. `drawing` has its second line, for devices.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any, NamedTuple

from sottovoce.privacy.base import Mechanism
from sottovoce.privacy.domains import Domain
from sottovoce.privacy.grid.calibrate import FORMULAS, gaussian, laplace
from sottovoce.privacy.grid.mechanism import Gaussian, Laplace
from sottovoce.privacy.levels.mechanism import Levels, levels
from sottovoce.privacy.noise import Noise
from sottovoce.privacy.sphere.mechanism import Sphere, sphere
from sottovoce.protocol.budget import Budget
from sottovoce.protocol.errors import BrokenPromise, ConfigurationError, WireError, look_up


class Kind(NamedTuple):
    """One line of the registry."""

    numbers: type[Any]
    """The frozen dataclass."""
    calibrate: Callable[..., Mechanism]
    """(domain, budget) to the mechanism; where there are several formulas, (domain, budget, formula)."""
    formulas: Iterable[str] = ()


MECHANISMS: dict[str, Kind] = {
    "levels": Kind(Levels, levels),
    "sphere": Kind(Sphere, sphere),
    "gaussian": Kind(Gaussian, gaussian, FORMULAS),
    "laplace": Kind(Laplace, laplace),
}

_NAMES = {kind.numbers: name for name, kind in MECHANISMS.items()}

LARGEST_EPSILON = 12.0
"""Above it one report protects nobody; a device refuses."""

Number = int | float | str | tuple[float, ...]


def name_of(mechanism: Mechanism) -> str:
    """The registry name of a mechanism."""
    return _NAMES[type(mechanism)]


def calibrate(name: str, domain: Domain, budget: Budget, formula: str = "analytic") -> Mechanism:
    """The mechanism of this name for this domain and budget; `formula` is for mechanisms that have several.

    >>> from sottovoce.privacy.domains import Interval
    >>> calibrate("levels", Interval(0, 1), Budget(1.0)).report_size
    1
    """
    if not isinstance(budget, Budget):
        raise ConfigurationError(f"give a budget, as in calibrate({name!r}, domain, budget(1.0)), got {budget!r}")
    kind = look_up("mechanism", name, MECHANISMS)
    return kind.calibrate(domain, budget, formula) if kind.formulas else kind.calibrate(domain, budget)


def verify(mechanism: Mechanism) -> None:
    """Raise BrokenPromise unless the mechanism's own numbers keep its budget.

    A device calls it before every report, so a contract that promises more than its numbers keep is refused, whoever
    wrote it.

    >>> from sottovoce.privacy.domains import Interval
    >>> verify(calibrate("gaussian", Interval(-1, 1), Budget(20.0, 1e-5), "classical"))
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.BrokenPromise: epsilon 20 is above 12, where one report protects nobody: refused
    """
    _verify(mechanism, repr(mechanism))


@lru_cache(maxsize=1024)
def _verify(mechanism: Mechanism, written: str) -> None:
    """Remembered as it is written: 2 and 2.0 are equal, and only one of them is a whole number."""
    epsilon = mechanism.budget.epsilon
    if type(epsilon) not in (int, float) or not epsilon > 0:
        raise BrokenPromise(f"epsilon must be positive, got {epsilon!r}")
    if epsilon > LARGEST_EPSILON:
        raise BrokenPromise(
            f"epsilon {epsilon:g} is above {LARGEST_EPSILON:g}, where one report protects nobody: refused"
        )
    mechanism.verify()


def numbers_of(mechanism: Mechanism) -> dict[str, Number]:
    """The mechanism's own numbers, as a contract carries them; its name, domain and budget stand beside them.

    >>> from sottovoce.privacy.domains import Interval
    >>> numbers_of(calibrate("levels", Interval(0, 1), Budget(1.0)))
    {'levels': 2, 'keep': 2850325, 'flip': 1048576}
    """
    names = [field.name for field in fields(MECHANISMS[name_of(mechanism)].numbers)]
    return {name: getattr(mechanism, name) for name in names if name not in ("domain", "budget")}


def mechanism_from(name: str, domain: Domain, budget: Budget, numbers: Mapping[str, Any]) -> Mechanism:
    """The mechanism that a contract describes, verified: its numbers keep the budget, or it is refused.

    >>> from sottovoce.privacy.domains import Interval
    >>> mechanism_from("levels", Interval(), Budget(1.0), {"levels": 2, "keep": 9000000, "flip": 1048576})
    Traceback (most recent call last):
        ...
    sottovoce.protocol.errors.BrokenPromise: weights 9000000:1048576 do not keep epsilon 1
    """
    kind = look_up("mechanism", name, MECHANISMS)
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in numbers.items()}
    try:
        mechanism = kind.numbers(domain, budget, **frozen)
    except TypeError as error:
        raise BrokenPromise(f"these numbers do not describe {name}: {sorted(numbers)}") from error
    verify(mechanism)
    return mechanism


def decode(mechanism: Mechanism, report: bytes) -> Any:
    """What the server learns from one report: an unbiased estimate, in the domain's natural units.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> mechanism = calibrate("levels", Interval(0.0, 1.0), Budget(1.0))
    >>> [round(float(decode(mechanism, report)), 3) for report in (bytes([0]), bytes([1]))]
    [-0.582, 1.582]
    """
    check(mechanism, report)
    return mechanism.domain.extract(mechanism.decode([report])[0])


def check(mechanism: Mechanism, report: bytes) -> None:
    """Refuse bytes that no device would send, so that a forged report says no more than an honest one could.

    That is a wrong length, a level or candidate that there is not, or too much noise.
    """
    if len(report) != (whole := mechanism.coin_size + mechanism.report_size):
        raise WireError(f"this task's reports have {whole} bytes, got {len(report)}")
    mechanism.check(report)


def noise_of(mechanism: Mechanism) -> Noise:
    """What a learner may know of this mechanism's noise.

    >>> from sottovoce import Budget, Interval, calibrate
    >>> round(noise_of(calibrate("levels", Interval(0.0, 1.0), Budget(1.0))).bound, 3)
    1.082
    """
    return mechanism.noise()
