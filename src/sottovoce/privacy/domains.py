"""What a message may be. A domain clips the raw pieces, forms the message and so *decides* the sensitivity.

No mechanism takes a sensitivity as an argument: it asks the domain it was calibrated for. A message is a flat vector
made of blocks; `l2(scales)` and `l1(scales)` are the largest distance between two messages of the domain after each
block is divided by its scale. That one definition serves every mechanism, also those with different noise per block.

`embed` is written on the array namespace of its input: NumPy on a device, where bad input is refused, and traced by JAX
in the simulator, the same text. `extract` turns an estimate of the message into what a learner wants.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from sottovoce.protocol.errors import BadInput, ConfigurationError, UnknownName

ROUNDING = 1e-9
"""How far float arithmetic may carry a message out of its domain; calibration leaves more room than that."""


@runtime_checkable
class Domain(Protocol):
    """The set of messages a person may send."""

    @property
    def blocks(self) -> tuple[int, ...]: ...

    @property
    def radius(self) -> float: ...

    def l2(self, scales: Sequence[float]) -> float: ...

    def l1(self, scales: Sequence[float]) -> float: ...

    def extract(self, message: Any) -> Any: ...

    def contains(self, message: Any) -> bool: ...


def size(domain: Domain) -> int:
    """The length of a message."""
    return sum(domain.blocks)


@dataclass(frozen=True)
class Interval:
    """One number in a declared range; the message is its position between -1 and 1.

    >>> Interval(1.0, 5.0).embed(7.0)      # five stars are the most one can give
    array([1.])
    """

    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ConfigurationError(f"an interval needs finite low < high, got ({self.low}, {self.high})")

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    @property
    def middle(self) -> float:
        return (self.high + self.low) / 2

    @property
    def blocks(self) -> tuple[int, ...]:
        return (1,)

    @property
    def radius(self) -> float:
        return 1.0

    def l2(self, scales: Sequence[float] = (1.0,)) -> float:
        return 2.0 / scales[0]

    def l1(self, scales: Sequence[float] = (1.0,)) -> float:
        return self.l2(scales)

    def embed(self, value: Any) -> Any:
        xp, value = _admit(value, (), "the value")
        return xp.reshape(xp.clip((value - self.middle) / self.half, -1.0, 1.0), (1,))

    def extract(self, message: Any) -> Any:
        return self.middle + self.half * message[..., 0]

    def contains(self, message: Any) -> bool:
        return bool(np.abs(message[0]) <= 1 + ROUNDING)


@dataclass(frozen=True)
class Ball:
    """A vector whose Euclidean norm is at most `bound`; longer ones are shortened.

    Two such vectors are at most 2 `bound` apart, and sqrt(dimension) times that in L1 (Cauchy-Schwarz).

    >>> Ball(2, 5.0).embed(np.array([6.0, 8.0]))
    array([3., 4.])
    """

    dimension: int
    bound: float = 1.0

    def __post_init__(self) -> None:
        _check_dimension(self.dimension)
        _check_positive("the bound of a ball", self.bound)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.dimension,)

    @property
    def radius(self) -> float:
        return self.bound

    def l2(self, scales: Sequence[float] = (1.0,)) -> float:
        return 2 * self.bound / scales[0]

    def l1(self, scales: Sequence[float] = (1.0,)) -> float:
        return math.sqrt(self.dimension) * self.l2(scales)

    def embed(self, vector: Any) -> Any:
        xp, vector = _admit(vector, (self.dimension,), "the vector")
        return shorten(xp, vector, self.bound)

    def extract(self, message: Any) -> Any:
        return message

    def contains(self, message: Any) -> bool:
        return bool(np.linalg.norm(message) <= self.bound * (1 + ROUNDING))


class MomentEstimate(NamedTuple):
    """What a linear learner is told: x x' and y x, estimated without bias."""

    gram: Any
    moment: Any


@dataclass(frozen=True)
class Moments:
    """x x' and y x of one person together, for ||x|| <= 1 and |y| <= reward_bound.

    The message is (diagonal of x x', sqrt 2 times its upper triangle, weight * y x / reward_bound). The sqrt 2 makes
    the half-vectorisation an isometry: distances are Frobenius distances.

    *L2.* Let c = <x, x'> for unit x, x'. Then ||x x' - x'x''||_F^2 = 2(1 - c^2) and the vector blocks are at most
    weight * sqrt(2(1 + |c|)) apart, so Delta^2 <= max_c 2(1 - c^2) + 2 w^2 (1 + c), which is ((2 + w^2)/sqrt 2)^2 for
    w <= sqrt 2 and (2w)^2 above. Shorter x do not reach further (searched in the tests). Blocks with different scales
    reduce to this with the smaller matrix scale and w * (matrix scale / vector scale).

    *L1.* Over the upper triangle with its diagonal |D|_1 <= sqrt(d(d+3)/2) (Cauchy-Schwarz on sign patterns; 1 for
    d = 1); the vector block adds 2 w sqrt d.

    >>> round(Moments(5).l2(), 4)
    2.1213
    """

    dimension: int
    reward_bound: float = 1.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        _check_dimension(self.dimension)
        _check_positive("reward_bound", self.reward_bound)
        _check_positive("weight", self.weight)

    @property
    def blocks(self) -> tuple[int, ...]:
        d = self.dimension
        return (d, d * (d - 1) // 2, d)

    @property
    def radius(self) -> float:
        return math.sqrt(1 + self.weight**2)

    def l2(self, scales: Sequence[float] = (1.0, 1.0, 1.0)) -> float:
        matrix = min(scales[0], scales[1]) if self.dimension > 1 else scales[0]
        weight = self.weight * matrix / scales[2]
        joint = (2 + weight**2) / math.sqrt(2) if weight <= math.sqrt(2) else 2 * weight
        return (joint if self.dimension > 1 else _joint_on_a_line(weight)) / matrix

    def l1(self, scales: Sequence[float] = (1.0, math.sqrt(2), 1.0)) -> float:
        d = self.dimension
        triangle = min(scales[0], scales[1] / math.sqrt(2)) if d > 1 else scales[0]
        spread = math.sqrt(d * (d + 3) / 2) if d > 1 else 1.0
        return spread / triangle + 2 * self.weight * math.sqrt(d) / scales[2]

    def embed(self, features: Any, reward: Any) -> Any:
        xp, features = _admit(features, (self.dimension,), "the features")
        _, reward = _admit(reward, (), "the reward")
        x = shorten(xp, features, 1.0)
        y = xp.clip(reward / self.reward_bound, -1.0, 1.0)
        rows, columns = np.triu_indices(self.dimension, 1)
        products = xp.reshape(x[:, None] * x[None, :], (-1,))
        upper = xp.take(products, rows * self.dimension + columns, axis=0)
        return xp.concat([x * x, math.sqrt(2) * upper, self.weight * y * x])

    def extract(self, message: Any) -> MomentEstimate:
        d = self.dimension
        xp = message.__array_namespace__()
        diagonal, upper, vector = message[:d], message[d:-d] / math.sqrt(2), message[-d:]
        return MomentEstimate(symmetric(xp, diagonal, upper, d), vector * (self.reward_bound / self.weight))

    def contains(self, message: Any) -> bool:
        gram, moment = self.extract(np.asarray(message))
        values, vectors = np.linalg.eigh(gram)
        x = vectors[:, -1] * math.sqrt(max(values[-1], 0.0))
        rank_one = np.linalg.norm(gram - np.outer(x, x)) <= ROUNDING
        y = float(moment @ vectors[:, -1]) / max(math.sqrt(max(values[-1], 0.0)), 1e-150)
        y = max(-self.reward_bound, min(self.reward_bound, y))
        return bool(
            rank_one and values[-1] <= 1 + ROUNDING and np.linalg.norm(moment - y * x) <= ROUNDING * self.reward_bound
        )


@dataclass(frozen=True)
class Gradient:
    """residual * x for ||x|| <= 1 and |residual| <= bound: the gradient of a generalised linear loss.

    Its norm is at most `bound`, so two gradients are at most 2 `bound` apart. The bound is clipped, not assumed: the
    paper's "the loss is C-Lipschitz" does not bound a residual that carries the reward's noise.

    >>> Gradient(2, 0.5).embed(np.array([0.0, 1.0]), 3.0)
    array([0. , 0.5])
    """

    dimension: int
    bound: float = 1.0

    def __post_init__(self) -> None:
        Ball(self.dimension, self.bound)

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.dimension,)

    @property
    def radius(self) -> float:
        return self.bound

    def l2(self, scales: Sequence[float] = (1.0,)) -> float:
        return Ball(self.dimension, self.bound).l2(scales)

    def l1(self, scales: Sequence[float] = (1.0,)) -> float:
        return Ball(self.dimension, self.bound).l1(scales)

    def embed(self, features: Any, residual: Any) -> Any:
        xp, features = _admit(features, (self.dimension,), "the features")
        _, residual = _admit(residual, (), "the residual")
        return xp.clip(residual, -self.bound, self.bound) * shorten(xp, features, 1.0)

    def extract(self, message: Any) -> Any:
        return message

    def contains(self, message: Any) -> bool:
        return Ball(self.dimension, self.bound).contains(message)


def _joint_on_a_line(weight: float) -> float:
    """Moments in one dimension: the farthest point from x = 1, y = 1 is y = -1 at some 0 < s <= 1.

    Their squared distance (1 + s)^2 ((1 - s)^2 + w^2) has its inner maximum where s (1 - s) = w^2 / 2.
    """
    if weight**2 >= 0.5:
        return 2 * weight
    s = (1 - math.sqrt(1 - 2 * weight**2)) / 2
    return max(2 * weight, (1 + s) * math.sqrt((1 - s) ** 2 + weight**2))


DOMAINS: dict[str, type] = {"interval": Interval, "ball": Ball, "moments": Moments, "gradient": Gradient}


def domain_from(numbers: Mapping[str, Any]) -> Domain:
    """The domain of this kind with these numbers.

    >>> domain_from({"kind": "interval", "low": 0.0, "high": 1.0})
    Interval(low=0.0, high=1.0)
    """
    kind = str(numbers["kind"])
    if kind not in DOMAINS:
        raise UnknownName("domain", kind, DOMAINS)
    return DOMAINS[kind](**{name: value for name, value in numbers.items() if name != "kind"})


def shorten(xp: Any, vector: Any, bound: float) -> Any:
    """The vector itself, or the point of the ball in its direction."""
    norm = xp.sqrt(xp.sum(vector * vector))
    return vector * xp.minimum(1.0, bound / xp.maximum(norm, 1e-300))


def symmetric(xp: Any, diagonal: Any, upper: Any, dimension: int) -> Any:
    """The symmetric matrix with this diagonal and this strict upper triangle, row by row."""
    place = np.zeros((dimension, dimension), dtype=int)
    rows, columns = np.triu_indices(dimension, 1)
    place[rows, columns] = place[columns, rows] = dimension + np.arange(len(rows))
    np.fill_diagonal(place, np.arange(dimension))
    return xp.take(xp.concat([diagonal, upper]), place.ravel(), axis=0).reshape(dimension, dimension)


def _admit(raw: Any, shape: tuple[int, ...], name: str) -> tuple[Any, Any]:
    """The array namespace and the array; real (untraced) input must be finite and of the declared shape."""
    if hasattr(raw, "aval"):  # a JAX array, traced or not: the simulator's own worlds
        return raw.__array_namespace__(), raw
    try:
        given = np.asarray(raw)
    except ValueError as error:  # rows of different lengths
        raise BadInput(f"{name} must be numbers of shape {shape}, got {type(raw).__name__}") from error
    if given.dtype.kind not in "biuf":  # text, dates, complex numbers, whole numbers beyond 64 bits
        raise BadInput(f"{name} must be numbers, got {type(raw).__name__}")
    array = given.astype(float)
    if array.shape != shape:
        raise BadInput(f"{name} must have shape {shape}, got {array.shape}")
    if not np.all(np.isfinite(array)):
        raise BadInput(f"{name} must be finite, got NaN or infinity")
    # Beyond this squares overflow. Such a vector is cut to the ball whatever its direction.
    return np, np.clip(array, -1e150, 1e150)


def _check_dimension(dimension: int) -> None:
    if not (isinstance(dimension, int) and dimension >= 1):
        raise ConfigurationError(f"dimension must be a positive whole number, got {dimension!r}")


def _check_positive(name: str, value: float) -> None:
    if not (math.isfinite(value) and value > 0):
        raise ConfigurationError(f"{name} must be a positive finite number, got {value!r}")
