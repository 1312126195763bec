"""Models: the offers that are the same for everyone, so that they can be cached and the action never travels.

A model travels as JSON with its kind. Its version is a hash of these bytes, which a device computes for itself.
"""

import hashlib
from typing import Any, NamedTuple

import msgspec
import numpy as np

from sottovoce.protocol.errors import WireError
from sottovoce.protocol.strict import decoded

VERSION_BYTES = 16


class LinearModel(NamedTuple):
    """The offer of a linear learner.

    The score of features x is <theta, x> + width * sqrt(x' precision x): what is expected, and how little is known.
    """

    theta: Any
    precision: Any
    width: Any
    explore: Any
    """The probability of a uniformly random action."""


class GeneralizedModel(NamedTuple):
    """The offer of a generalised linear learner: a `LinearModel` to choose by, and where to take the gradient."""

    theta: Any
    precision: Any
    width: Any
    explore: Any
    anchor: Any
    """The device reports (mean reward predicted by the anchor, minus reward) times x."""


class DirectedModel(NamedTuple):
    """The offer of a scale-free learner: the highest <theta, x> is chosen; what is reported is measured by `clip`."""

    theta: Any
    explore: Any
    anchor: Any
    """The device's residual is the reward, minus the mean reward predicted by the anchor."""
    clip: Any
    """Residuals beyond it count as large as it."""
    by_anchor: Any
    """The probability that the highest <anchor, x> is chosen instead."""
    base: Any
    """What is added to <anchor, x> before the reward is predicted."""
    contrast: Any
    """1 where features are reported `users.by_model.contrasted`, 0 where they are reported as they are."""


Model = LinearModel | GeneralizedModel | DirectedModel
MODELS: dict[str, type[Model]] = {"linear": LinearModel, "generalized": GeneralizedModel, "directed": DirectedModel}
AXES = {"theta": 1, "precision": 2, "anchor": 1}
"""How many axes the arrays of a model have, each as long as the features; the other parts are single numbers."""


def version_of(body: bytes) -> str:
    """The name of a model: a server cannot give one person's model a name of its own.

    >>> version_of(b'{"kind": "linear"}')
    '0e68e8d653c36d288e35873e99f221d7'
    """
    return hashlib.sha256(body).hexdigest()[: 2 * VERSION_BYTES]


def model_body(kind: str, model: Model) -> bytes:
    """The model as it is served."""
    parts = {name: np.asarray(value).tolist() for name, value in model._asdict().items()}
    return msgspec.json.encode({"kind": kind} | parts)


def model_from(body: bytes, kind: str, dimension: int) -> Any:
    """The arrays of a model of this kind, if they have the shapes of its task.

    >>> model_from(model_body("linear", LinearModel([1.0], [[1.0]], 0.1, 0.0)), "linear", 1).theta
    array([1.])
    """
    parts = decoded(body, dict[str, Any], "a model")
    if parts.pop("kind", None) != kind or set(parts) != set(MODELS[kind]._fields):
        raise WireError(f"not a {kind} model: it has {sorted(parts)}")
    return MODELS[kind](**{name: array_from(value, (dimension,) * AXES.get(name, 0)) for name, value in parts.items()})


def array_from(sent: Any, shape: tuple[int, ...]) -> Any:
    """Finite numbers of this shape, or `WireError`.

    >>> array_from([0.5, 1], (2,))
    array([0.5, 1. ])
    """
    try:
        array = np.asarray(sent)
    except (TypeError, ValueError, OverflowError) as error:
        raise WireError("not numbers") from error
    if array.dtype.kind not in "iuf" or array.shape != shape or not np.all(np.isfinite(array)):
        raise WireError(f"not finite numbers of shape {shape}")
    return array.astype(float)
