"""What JAX traced, computed number by number: each number of an array is a value of its own, the same for all lanes or
a vector with one number for each lane.

Arrays become NumPy arrays of such values, so everything that only moves numbers (slices, transposes, concatenations) is
done while the kernel is built and costs nothing when it runs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core
from numpy.typing import NDArray

Values = NDArray[Any]
"""An array of numbers that are known (of their own type), or (of objects) of values: numbers, vectors, `Word` pairs."""

MOST = 17_000
"""Instructions of a round, about. With more of them compiling takes minutes."""

DIVISIONS = "div", "integer_pow", "rem", "rsqrt", "sqrt"
FUNCTIONS = "cos", "erf_inv", "exp", "expm1", "log", "log1p", "logistic", "pow", "sin", "tanh"
SLOW = dict.fromkeys(DIVISIONS, 20) | dict.fromkeys(FUNCTIONS, 100)
"""About how many instructions of a GPU these take in float64; other operations take one."""


class NotInLanes(Exception):
    """A loop that cannot be played in lanes, or should not: it has an operation without a rule, or too many of them."""


class Pair(NamedTuple):
    """A random key: two words."""

    first: Any
    second: Any


class Table(NamedTuple):
    """An array that stays in memory: too large to be a value for each of its numbers."""

    load: Callable[[Any], Any]
    """Its numbers at these places, in the order of the array."""
    shape: tuple[int, ...]
    dtype: Any


Rule = Callable[["Evaluation", Any, list[Any]], list[Any]]
"""How an equation is done: it gets what the operands are, and gives what the results are."""


class Evaluation:
    """One computation; it counts about how many instructions it takes."""

    def __init__(self, rules: dict[str, Rule]) -> None:
        self.rules, self.instructions = rules, 0

    def run(self, jaxpr: core.ClosedJaxpr, operands: list[Any]) -> list[Any]:
        """The results of a computation for these operands, which are `Values` or tables."""
        held: dict[Any, Any] = dict(zip(jaxpr.jaxpr.constvars, map(values_of, jaxpr.consts), strict=True))
        held |= dict(zip(jaxpr.jaxpr.invars, operands, strict=True))
        read = lambda atom: values_of(atom.val) if isinstance(atom, core.Literal) else held[atom]  # noqa: E731
        for equation in jaxpr.jaxpr.eqns:
            found = self._done(equation, [read(atom) for atom in equation.invars])
            held |= dict(zip(equation.outvars, found, strict=True))
        return [read(atom) for atom in jaxpr.jaxpr.outvars]

    def _done(self, equation: Any, operands: list[Any]) -> list[Any]:
        name = equation.primitive.name
        if name not in self.rules:
            raise NotInLanes(f"no rule for {name}")
        return self.rules[name](self, equation, operands)

    def each(self, function: Callable[..., Any], *operands: Values, instructions: int = 1) -> Values:
        """A function of numbers at every place; an axis of one goes with every place of the others'."""
        shape = np.broadcast_shapes(*(operand.shape for operand in operands))
        rows = [np.broadcast_to(as_objects(operand), shape).ravel() for operand in operands]
        numbers = zip(*rows, strict=True)
        return array_of([self.apply(function, *each, instructions=instructions) for each in numbers], shape)

    def apply(self, function: Callable[..., Any], *numbers: Any, instructions: int = 1) -> Any:
        """A function of numbers, which takes so many instructions; vectors and single numbers may be mixed."""
        if any(isinstance(number, Pair) for number in numbers):
            pairs = [number if isinstance(number, Pair) else (number, number) for number in numbers]
            words = zip(*pairs, strict=True)
            return Pair(*(self.apply(function, *each, instructions=instructions) for each in words))
        if all(isinstance(number, np.generic) for number in numbers):
            return known(function, *numbers)[()]
        self.instructions += instructions
        if self.instructions > MOST:
            raise NotInLanes(f"more than {MOST:,} instructions in a round")
        return function(*alike(numbers))

    def choice(self, which: Values, cases: list[Values]) -> Values:
        """At each place a number of one of the arrays."""
        rows = zip(which.ravel(), *(case.ravel() for case in cases), strict=True)
        return array_of([self.chosen(one, numbers) for one, *numbers in rows], cases[0].shape)

    def chosen(self, which: Any, cases: list[Any]) -> Any:
        """One of the numbers; nothing is computed where it is known which."""
        if isinstance(which, np.generic):
            return cases[int(which)]
        if all(case is cases[0] for case in cases):
            return cases[0]
        return self.apply(lax.select_n, which, *cases)


def known(function: Callable[..., Any], *numbers: Any) -> NDArray[Any]:
    """A function of what is known already, computed at once and not in the kernel."""
    with jax.ensure_compile_time_eval(), jax.default_device(jax.devices("cpu")[0]):
        return np.asarray(function(*numbers))


def alike(numbers: Any) -> list[Any]:
    """The same numbers, all of them vectors where one is: the operations of JAX want one shape."""
    shape = max((np.shape(number) for number in numbers), key=len)
    return [jnp.broadcast_to(number, shape) if np.shape(number) != shape else number for number in numbers]


def values_of(array: Any) -> Values:
    """What is known, as an array of its own type; a key as words."""
    if jnp.issubdtype(getattr(array, "dtype", np.float64), jax.dtypes.prng_key):
        words = known(jax.random.key_data, array)
        return pairs_of(as_objects(words))
    return known(jnp.asarray, array)


def array_of(numbers: list[Any], shape: tuple[int, ...]) -> Values:
    """Numbers in the order of an array, each kept as it is; NumPy would look into vectors and pairs."""
    found = np.empty(len(numbers), object)
    for place, number in enumerate(numbers):
        found[place] = number
    return found.reshape(shape)


def as_objects(values: Values) -> Values:
    """Each number apart, with its type."""
    return values if values.dtype == object else array_of(list(values.ravel()), values.shape)


def row_of(values: Values, place: int) -> Values:
    """One entry of the first axis; an array even if it is a single number."""
    return as_objects(values)[place : place + 1].reshape(values.shape[1:])


def pairs_of(words: Values) -> Values:
    """Keys from an array whose last axis are two words."""
    return array_of([Pair(*pair) for pair in words.reshape(-1, 2)], words.shape[:-1])
