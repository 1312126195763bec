"""The dashboard file is one that Grafana reads: checked against the types that Grafana publishes."""

import enum
import json
import types
import warnings
from collections.abc import Iterator
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder

from manual import ROOT

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # a newer form exists, which older Grafanas do not read
    from grafana_foundation_sdk.models.dashboard import Dashboard

FILE = ROOT / "deploy" / "grafana" / "sottovoce.json"


def written() -> dict[str, Any]:
    return json.loads(FILE.read_text())


def faults(given: dict[str, Any]) -> list[str]:
    """Names that Grafana does not know (they are lost when it reads the file), and values of another type."""
    plugins.register_default_plugins()
    read = Dashboard.from_json(given)
    return [*lost(given, json.loads(json.dumps(read, cls=JSONEncoder))), *mistyped(read, Dashboard)]


def lost(given: Any, kept: Any, path: str = "") -> Iterator[str]:
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            if name in kept:
                yield from lost(value, kept[name], f"{path}.{name}")
            else:
                yield f"{path}.{name} is not known"
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for number, (one, other) in enumerate(zip(given, kept, strict=True)):
            yield from lost(one, other, f"{path}[{number}]")
    elif given != kept:
        yield f"{path} becomes {kept!r}"


def mistyped(value: Any, hint: Any, path: str = "") -> Iterator[str]:
    """A value that is not of its declared type, in whatever depth."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        tried = [list(mistyped(value, one, path)) for one in arguments]
        yield from min(tried, key=len)
    elif origin is list and isinstance(value, list):
        for number, one in enumerate(value):
            yield from mistyped(one, arguments[0], f"{path}[{number}]")
    elif origin is dict and isinstance(value, dict):
        for name, one in value.items():
            yield from mistyped(one, arguments[1], f"{path}.{name}")
    elif not fits(value, hint):
        yield f"{path} is {value!r}"
    elif hasattr(value, "to_json"):
        for name, declared in get_type_hints(type(value)).items():
            yield from mistyped(getattr(value, name), declared, f"{path}.{name}")


def fits(value: Any, hint: Any) -> bool:
    if hint in (Any, object):
        return True
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return value in [one.value for one in hint] or value in list(hint)
    if hint in (int, float):
        return isinstance(value, hint | int) and not isinstance(value, bool)
    return isinstance(value, hint) if get_origin(hint) is None else False


def test_grafana_knows_every_name_and_every_value_has_its_type():
    assert not faults(written())


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("gridPos", "wide"), 3, "wide is not known"),
        (("title",), 7, "title is 7"),
        (("targets", 0, "exprr"), "up", "exprr is not known"),
        (("targets", 0, "expr"), ["up"], "expr is ['up']"),
        (("options", "colorMode"), "red", "color_mode is 'red'"),
        (("fieldConfig", "defaults", "unit"), 1, "unit is 1"),
    ],
)
def test_a_mistake_in_the_file_is_noticed(place: tuple[Any, ...], value: Any, said: str):
    changed = written()
    inner: Any = next(panel for panel in changed["panels"] if panel["type"] == "stat")
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    assert any(said in fault for fault in faults(changed)), faults(changed)


def test_the_data_source_is_a_choice_of_whoever_imports_it():
    named = [one for one in _all_named(written(), "datasource") if isinstance(one, dict)]
    assert {one["uid"] for one in named} == {"${datasource}"}
    assert [one["type"] for one in written()["templating"]["list"]] == ["datasource", "query", "query"]


def test_panels_have_numbers_of_their_own_a_place_and_a_sentence():
    panels = written()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        across, down = (range(place[start], place[start] + place[length]) for start, length in ("xw", "yh"))
        cells = {(x, y) for x in across for y in down}
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
        assert panel["type"] == "row" or panel["description"].endswith((".", "?")), panel["title"]


def _all_named(value: Any, name: str) -> Iterator[Any]:
    if isinstance(value, dict):
        if name in value:
            yield value[name]
        for one in value.values():
            yield from _all_named(one, name)
    elif isinstance(value, list):
        for one in value:
            yield from _all_named(one, name)
