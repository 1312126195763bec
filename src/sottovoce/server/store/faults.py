"""How a store tells faults that pass from errors of whoever asked."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from sottovoce.server.store.base import StoreFault

Class = TypeVar("Class", bound=type)


def telling_faults(error: type[Exception], passing: Callable[[Any], str]) -> Callable[[Class], Class]:
    """A decorator of classes: every method tells such an error as `StoreFault` where `passing` has words for it."""

    def telling(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def told(*arguments: Any, **named: Any) -> Any:
            try:
                return method(*arguments, **named)
            except error as found:
                if words := passing(found):
                    raise StoreFault(words) from found
                raise

        return told

    def decorated(store: Class) -> Class:
        for name, method in list(vars(store).items()):
            if not name.startswith("__") and callable(method):
                setattr(store, name, telling(method))
        return store

    return decorated
