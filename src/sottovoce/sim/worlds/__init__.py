"""Worlds to learn in, by name."""

import inspect
from typing import Any

from sottovoce.core.errors import ConfigurationError, UnknownName
from sottovoce.sim.worlds.arms import Arms, SwitchingArms
from sottovoce.sim.worlds.base import World
from sottovoce.sim.worlds.linear import Linear

WORLDS: dict[str, Any] = {"arms": Arms, "switching-arms": SwitchingArms, "linear": Linear}

CONTEXTS = ("isotropic", "ill-conditioned", "fixed")

__all__ = ["CONTEXTS", "WORLDS", "World", "contextual", "world_of"]


def contextual(name: str) -> bool:
    """Does this world have features?"""
    if name not in WORLDS:
        raise UnknownName("world", name, WORLDS)
    return "dimension" in inspect.signature(WORLDS[name]).parameters


def world_of(name: str, *, arms: int, dimension: int = 0, **options: Any) -> World:
    """The world of this name.

    >>> world_of("linear", arms=10, dimension=5, contexts="fixed").contexts
    'fixed'
    """
    shape = {"arms": arms, "dimension": dimension} if contextual(name) else {"arms": arms}
    known = set(inspect.signature(WORLDS[name]).parameters) - {"arms", "dimension", "best", "theta", "actions"}
    for option in options:
        if option not in known:
            raise UnknownName(f"option of world {name}", option, known)
    if options.get("contexts", "isotropic") not in CONTEXTS:
        raise UnknownName("contexts", options["contexts"], CONTEXTS)
    if contextual(name) and dimension < 1:
        raise ConfigurationError(f"world {name} needs a dimension of at least 1, got {dimension}")
    return WORLDS[name](**shape, **options)
