"""Rules for operations at places that may be known only when it runs: parts of arrays are chosen, numbers are put."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from sottovoce.sim.lanes.evaluate import Evaluation, NotInLanes, Table, Values, array_of, as_objects

SCATTERS: dict[str, Callable[..., Any]] = {"scatter": lambda _, new: new, "scatter-add": lax.add}


def dynamic_slice(evaluation: Evaluation, equation: Any, operands: list[Any]) -> list[Values]:
    array, starts = operands[0], [as_objects(start)[()] for start in operands[1:]]
    return [_cut(evaluation, array, starts, equation.params["slice_sizes"])]


def _cut(evaluation: Evaluation, array: Any, starts: list[Any], sizes: tuple[int, ...]) -> Values:
    """A part of an array that begins at these places, or as near to them as it can."""
    if isinstance(array, Table):
        return _loaded(evaluation, array, starts, sizes)
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        array = np.moveaxis(_cut_first(evaluation, np.moveaxis(array, axis, 0), start, size), 0, axis)
    return array


def _cut_first(evaluation: Evaluation, rows: Values, start: Any, size: int) -> Values:
    last = len(rows) - size
    if last == 0:
        return rows
    if isinstance(start, np.generic):
        return rows[(first := min(max(int(start), 0), last)) : first + size]
    found = as_objects(rows[last : last + size])
    for first in range(last - 1, -1, -1):
        before = evaluation.apply(lambda number, first=first: number <= first, start)
        part = as_objects(rows[first : first + size])
        found = evaluation.choice(array_of([before] * found.size, found.shape), [found, part])
    return found


def _loaded(evaluation: Evaluation, table: Table, starts: list[Any], sizes: tuple[int, ...]) -> Values:
    begin, steps = np.int64(0), [int(np.prod(table.shape[axis + 1 :])) for axis in range(len(table.shape))]
    for start, size, length, step in zip(starts, sizes, table.shape, steps, strict=True):
        near = lambda number, last=length - size: jnp.clip(number, 0, last).astype(np.int64)  # noqa: E731
        way = lambda place, first, near=near, step=step: place + near(first) * step  # noqa: E731
        begin = evaluation.apply(way, begin, start)
    found = []
    for place in np.ndindex(sizes):
        ahead = sum(offset * step for offset, step in zip(place, steps, strict=True))
        found.append(evaluation.apply(lambda first, ahead=ahead: table.load(first + ahead), begin))
    return array_of(found, sizes)


def _put(
    evaluation: Evaluation, array: Values, starts: list[Any], offset: tuple[int, ...], operation: Any, number: Any
) -> None:
    """Change one number of the array, at the place that begins there; nothing where that is outside."""
    for place in _places(array.shape, starts, offset):
        here: Any = np.bool_(True)
        for start, ahead, at in zip(starts, offset, place, strict=True):
            if isinstance(start, np.generic):
                continue
            hit = evaluation.apply(lambda first, at=at - ahead: first == at, start)
            here = hit if isinstance(here, np.generic) else evaluation.apply(lax.bitwise_and, here, hit)
        changed = evaluation.apply(operation, array[place], number)
        array[place] = evaluation.chosen(here, [array[place], changed])


def _places(shape: tuple[int, ...], starts: list[Any], offset: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All places that it can be."""
    axes = [
        [place for place in range(length) if not isinstance(start, np.generic) or place == int(start) + ahead]
        for length, start, ahead in zip(shape, starts, offset, strict=True)
    ]
    return itertools.product(*axes)


def gather(evaluation: Evaluation, equation: Any, operands: list[Any]) -> list[Values]:
    numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
    array, indices = operands[0], as_objects(operands[1])
    fills = equation.params["mode"] == lax.GatherScatterMode.FILL_OR_DROP
    if numbers.operand_batching_dims or (fills and not _inside(indices, numbers.start_index_map, array.shape, sizes)):
        raise NotInLanes("a gather that may fill, or of many arrays at once")
    found = np.empty(equation.outvars[0].aval.shape, object)
    batches = [axis for axis in range(found.ndim) if axis not in numbers.offset_dims]
    for batch in np.ndindex(indices.shape[:-1]):
        starts: list[Any] = [np.int64(0)] * len(sizes)
        for axis, index in zip(numbers.start_index_map, indices[batch], strict=True):
            starts[axis] = index
        part = as_objects(_cut(evaluation, array, starts, sizes)).squeeze(numbers.collapsed_slice_dims)
        where: list[Any] = [slice(None)] * found.ndim
        for axis, place in zip(batches, batch, strict=True):
            where[axis] = place
        found[tuple(where)] = part if part.ndim else part[()]
    return [found]


def _inside(indices: Values, axes: tuple[int, ...], shape: tuple[int, ...], sizes: tuple[int, ...]) -> bool:
    """Are the places known, and nothing outside of the array asked for?"""
    last = [shape[axis] - sizes[axis] for axis in axes]
    places = zip(indices.ravel(), last * (indices.size // len(last)), strict=True)
    return all(isinstance(place, np.generic) and 0 <= int(place) <= end for place, end in places)


def scattered(evaluation: Evaluation, equation: Any, operands: list[Values]) -> list[Values]:
    numbers = equation.params["dimension_numbers"]
    if numbers.operand_batching_dims or equation.params["mode"] == lax.GatherScatterMode.CLIP:
        raise NotInLanes("a scatter that moves indices, or into many arrays at once")
    array, indices, new = map(as_objects, operands)
    found, operation = array.copy(), SCATTERS[equation.primitive.name]
    window = [axis for axis in range(array.ndim) if axis not in numbers.inserted_window_dims]
    for place in np.ndindex(new.shape):
        batch = tuple(at for axis, at in enumerate(place) if axis not in numbers.update_window_dims)
        starts, offset = [np.int64(0)] * array.ndim, [0] * array.ndim
        for axis, index in zip(numbers.scatter_dims_to_operand_dims, indices[batch], strict=True):
            starts[axis] = index
        for axis, update in zip(window, numbers.update_window_dims, strict=True):
            offset[axis] = place[update]
        _put(evaluation, found, starts, tuple(offset), operation, new[place])
    return [found]
