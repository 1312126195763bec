"""How each operation of JAX is done number by number. An operation that has no rule here is not played in lanes."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend import core

from sottovoce.sim import random
from sottovoce.sim.lanes.evaluate import (
    SLOW,
    Evaluation,
    NotInLanes,
    Rule,
    Table,
    Values,
    array_of,
    as_objects,
    known,
    pairs_of,
    row_of,
)  # fmt: skip
from sottovoce.sim.lanes.places import SCATTERS, dynamic_slice, gather, scattered

ONE_BY_ONE = (
    *SLOW, "abs", "add", "add_any", "and", "bitcast_convert_type", "ceil", "clamp", "convert_element_type", "eq",
    "floor", "ge", "gt", "is_finite", "le", "lt", "max", "min", "mul", "ne", "neg", "not", "or", "shift_left",
    "shift_right_arithmetic", "shift_right_logical", "sign", "square", "stop_gradient", "sub", "xor",
)  # fmt: skip
"""Operations that are done alike at each place."""

CALLS = {"jit": "jaxpr", "custom_jvp_call": "call_jaxpr"}
"""Operations that are another computation, and where that is."""

FOLDS: dict[str, Callable[..., Any]] = {
    "reduce_sum": lax.add, "reduce_max": lax.max, "reduce_min": lax.min, "reduce_and": lax.bitwise_and,
    "reduce_or": lax.bitwise_or, "cumsum": lax.add,
}  # fmt: skip
MOVES: dict[str, Callable[..., Any]] = {
    "transpose": lambda x, permutation: x.transpose(permutation),
    "squeeze": lambda x, dimensions: x.squeeze(dimensions),
    "rev": lambda x, dimensions: np.flip(x, dimensions),
}
"""Operations that only move numbers."""


def rules() -> dict[str, Rule]:
    """By the names of JAX's primitives."""
    found: dict[str, Rule] = dict.fromkeys(ONE_BY_ONE, shortcut(one_by_one)) | dict.fromkeys(CALLS, call)
    found |= {name: shortcut(moved) for name in MOVES}
    found |= {name: shortcut(reduced) for name in FOLDS if name.startswith("reduce_")}
    found |= {name: shortcut(accumulated) for name in FOLDS if name.startswith("cum")}
    found["iota"] = shortcut(one_by_one)  # nothing goes in, so it is known
    found |= dict.fromkeys(SCATTERS, scattered) | dict.fromkeys(random.CIPHER, drawn)
    named = (
        select_n, reshape, broadcast_in_dim, slice_, concatenate, stack, unstack, argmax, argmin,
        dot_general,
    )  # fmt: skip
    found |= {rule.__name__.rstrip("_"): shortcut(rule) for rule in named}
    return found | {rule.__name__: rule for rule in (dynamic_slice, gather, scan, random_wrap)}


def shortcut(rule: Rule) -> Rule:
    """The same rule; what is known altogether is computed at once by JAX."""

    @functools.wraps(rule)
    def done(evaluation: Evaluation, equation: Any, operands: list[Any]) -> list[Any]:
        if any(isinstance(operand, Table) or operand.dtype == object for operand in operands):
            if any(isinstance(operand, Table) for operand in operands):
                raise NotInLanes(f"{equation.primitive.name} of a table")
            return rule(evaluation, equation, operands)
        found = known(functools.partial(equation.primitive.bind, **equation.params), *operands)
        return list(found) if equation.primitive.multiple_results else [found]

    return done


# --- numbers ---------------------------------------------------------------------------------------------------------


def one_by_one(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    function = functools.partial(equation.primitive.bind, **equation.params)
    return [evaluation.each(function, *operands, instructions=SLOW.get(equation.primitive.name, 1))]


def select_n(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    which, *cases = map(as_objects, operands)
    return [evaluation.choice(np.broadcast_to(which, cases[0].shape), cases)]


# --- numbers that only move ------------------------------------------------------------------------------------------


def moved(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [MOVES[equation.primitive.name](operands[0], **equation.params)]


def reshape(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [operands[0].reshape(equation.outvars[0].aval.shape)]


def broadcast_in_dim(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    shape, places = equation.params["shape"], equation.params["broadcast_dimensions"]
    wide = [1] * len(shape)
    for place, size in zip(places, operands[0].shape, strict=True):
        wide[place] = size
    return [np.broadcast_to(operands[0].reshape(wide), shape)]


def slice_(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    start, end, step = (equation.params[name] for name in ("start_indices", "limit_indices", "strides"))
    return [operands[0][tuple(map(slice, start, end, step or [1] * len(start)))]]


def concatenate(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [np.concatenate([*map(as_objects, operands)], axis=equation.params["dimension"])]


def stack(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [np.stack([*map(as_objects, operands)], axis=equation.params["axis"])]


def unstack(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    rows = np.moveaxis(operands[0], equation.params["axis"], 0)
    return [row_of(rows, place) for place in range(len(rows))]


# --- many numbers to one ---------------------------------------------------------------------------------------------


def _fold(evaluation: Evaluation, operation: Callable[..., Any], numbers: list[Any]) -> Any:
    """In pairs, so that no number waits for all before it."""
    while len(numbers) > 1:
        pairs = [evaluation.apply(operation, *pair) for pair in zip(numbers[::2], numbers[1::2], strict=False)]
        numbers = pairs + numbers[len(numbers) - len(numbers) % 2 :]
    return numbers[0]


def reduced(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    axes, array = equation.params["axes"], operands[0]
    last = np.moveaxis(array, axes, range(-len(axes), 0))
    rows = last.reshape(*last.shape[: last.ndim - len(axes)], -1)
    if not rows.shape[-1]:
        raise NotInLanes("a sum of nothing")
    operation = FOLDS[equation.primitive.name]
    folded = [_fold(evaluation, operation, list(row)) for row in rows.reshape(-1, rows.shape[-1])]
    return [array_of(folded, rows.shape[:-1])]


def accumulated(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    operation = FOLDS[equation.primitive.name]
    rows = np.moveaxis(operands[0], equation.params["axis"], 0)
    step = -1 if equation.params["reverse"] else 1
    in_turn = [row_of(rows, place) for place in range(len(rows))][::step]
    found = list(itertools.accumulate(in_turn, functools.partial(evaluation.each, operation)))
    return [np.moveaxis(np.stack(found[::step]), 0, equation.params["axis"])]


def _first(evaluation: Evaluation, equation: Any, array: Values, better: Callable[..., Any]) -> Values:
    """The place of the first number that is better than all others; what is not a number is best, as in JAX."""
    (axis,), kind = equation.params["axes"], np.dtype(equation.params["index_dtype"]).type
    rows = np.moveaxis(array, axis, 0)
    best, found = row_of(rows, 0), array_of([kind(0)] * int(np.prod(rows.shape[1:])), rows.shape[1:])
    for place in range(1, len(rows)):
        row = row_of(rows, place)
        wins = evaluation.each(better, row, best)
        found = evaluation.choice(wins, [found, array_of([kind(place)] * found.size, found.shape)])
        best = evaluation.choice(wins, [best, row])
    return found


def argmax(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [_first(evaluation, equation, operands[0], lambda new, best: (new > best) | ((new != new) & (best == best)))]


def argmin(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [_first(evaluation, equation, operands[0], lambda new, best: (new < best) | ((new != new) & (best == best)))]


def dot_general(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    (left_sum, right_sum), (left_batch, right_batch) = equation.params["dimension_numbers"]

    def rows(array: Values, batch: Any, summed: Any) -> Values:
        """Axes: batch, what is left, what is summed."""
        rest = [axis for axis in range(array.ndim) if axis not in (*batch, *summed)]
        shape = [int(np.prod([array.shape[axis] for axis in axes])) for axes in (batch, rest, summed)]
        return as_objects(array).transpose(*batch, *rest, *summed).reshape(shape)

    left, right = rows(operands[0], left_batch, left_sum), rows(operands[1], right_batch, right_sum)
    zero, found = np.dtype(equation.outvars[0].aval.dtype).type(0), []
    for batch, row, column in np.ndindex(len(left), left.shape[1], right.shape[1]):
        pairs = zip(left[batch, row], right[batch, column], strict=True)
        terms = [evaluation.apply(lax.mul, *pair) for pair in pairs if not any(map(_is_zero, pair))]
        found.append(_fold(evaluation, lax.add, terms or [zero]))
    return [array_of(found, equation.outvars[0].aval.shape)]


def _is_zero(number: Any) -> bool:
    """Is it known to be zero, as most of an identity matrix is? Such terms are left out."""
    return isinstance(number, np.generic) and number == 0


# --- other computations ----------------------------------------------------------------------------------------------


def call(evaluation: Evaluation, equation: Any, operands: list[Any]) -> list[Any]:
    return evaluation.run(equation.params[CALLS[equation.primitive.name]], operands)


def scan(evaluation: Evaluation, equation: Any, operands: list[Any]) -> list[Any]:
    """One step after the other, each of them written out."""
    body, length = equation.params["jaxpr"], equation.params["length"]
    carried = _not_in_rows(equation.outvars, body.jaxpr.outvars)
    constants = _not_in_rows(equation.invars, body.jaxpr.invars) - carried
    fixed, carry, rows = operands[:constants], operands[constants:][:carried], operands[constants + carried :]
    order = range(length)[::-1] if equation.params["reverse"] else range(length)
    made: list[Any] = [None] * length
    for place in order:
        found = evaluation.run(body, [*fixed, *carry, *(row_of(row, place) for row in rows)])
        carry, made[place] = found[:carried], [as_objects(values) for values in found[carried:]]
    return [*carry, *(np.stack(values) for values in zip(*made, strict=True))]


def _not_in_rows(outer: list[Any], inner: list[Any]) -> int:
    """How many go as they are into every step, or out of the last one; of the others a step has one row."""
    return sum(one.aval.ndim == two.aval.ndim for one, two in zip(outer, inner, strict=True))


# --- random numbers --------------------------------------------------------------------------------------------------


def random_wrap(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    return [pairs_of(as_objects(operands[0]))]


def drawn(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    """From the cipher of the simulator, key after key."""
    keys, *more = operands
    if equation.invars[0].aval.dtype != _keys():
        raise NotInLanes("keys of another generator")
    name, numbers = equation.primitive.name, {key: equation.params[key] for key in ("bit_width", "shape")
                                              if key in equation.params}  # fmt: skip
    found: list[Any] = []
    for place, key in enumerate(keys.ravel()):
        given = [array_of(list(key), (2,)), *(row_of(as_objects(array).reshape(-1), place) for array in more)]
        results = evaluation.run(_cipher(name, tuple(numbers.items()), len(more)), given)[0]
        found += list((as_objects(results) if name == "random_bits" else pairs_of(as_objects(results))).ravel())
    return [array_of(found, equation.outvars[0].aval.shape)]


@functools.lru_cache(maxsize=1)
def _keys() -> Any:
    """The type of the simulator's keys."""
    return jax.eval_shape(lambda: random.simulation_key(0)).dtype


@functools.lru_cache(maxsize=256)
def _cipher(name: str, numbers: tuple[tuple[str, Any], ...], more: int) -> core.ClosedJaxpr:
    words = jax.ShapeDtypeStruct((2,), np.uint32)
    data = [jax.ShapeDtypeStruct((), np.uint32)] * more
    return jax.make_jaxpr(functools.partial(random.CIPHER[name], **dict(numbers)))(words, *data)


RULES = rules()
