"""For the reference of the manual: the examples of a docstring are shown as Python, and its powers as powers."""

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\n).*)*", re.MULTILINE)
"""From a prompt to the next empty line."""
POWER = re.compile(r"(?P<code>```.*?```|`[^`]*`)|\^(?:(?P<plain>-?\w+)|\((?P<long>[^()]*)\))", re.DOTALL)
"""What stands after a caret, but not in code."""


class Doctests(griffe.Extension):
    """Puts a fence around every example, and raises every power."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called for every module, class, function and attribute that was read."""
        if obj.docstring:
            obj.docstring.value = raised(fenced(obj.docstring.value))


def fenced(docstring: str) -> str:
    r"""The docstring with its examples as blocks of Python, without what only the test needs to know.

    >>> fenced("Adds.\n\n>>> 1 + 1  # doctest: +SKIP\n2\n\nAnd more.")
    'Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nAnd more.'
    """
    bare = re.sub(r" *# doctest: .*$", "", docstring, flags=re.MULTILINE)
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", bare)


def raised(text: str) -> str:
    """The text with its powers as HTML.

    >>> raised("e^(u^2/2) <= e^-r, as `2^3` says")
    'e<sup>u<sup>2</sup>/2</sup> <= e<sup>-r</sup>, as `2^3` says'
    """
    return POWER.sub(lambda found: found["code"] or f"<sup>{raised(found['plain'] or found['long'])}</sup>", text)
