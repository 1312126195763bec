"""Parts of a contract in words, as they stand in a task file."""

from sottovoce.catalogue.task import learning_of
from sottovoce.catalogue.task_file import UNITS
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.fields import Category, Field, Number


def duration(seconds: int) -> str:
    """As it stands in a task file.

    >>> duration(86400), duration(5400), duration(0)
    ('1d', '90m', '0s')
    """
    unit = max((unit for unit in UNITS if seconds % UNITS[unit] == 0), key=lambda unit: UNITS[unit])
    return f"{seconds // UNITS[unit]}{unit}" if seconds else "0s"


def spelled(seconds: int) -> str:
    """For people who have not read a task file.

    >>> spelled(86400), spelled(5400), spelled(0)
    ('1 day', '90 minutes', '0 seconds')
    """
    text = duration(seconds)
    name = {"s": "second", "m": "minute", "h": "hour", "d": "day"}[text[-1]]
    return f"{text[:-1]} {name}" + "s" * (text[:-1] != "1")


def choices(contract: Contract) -> str:
    """What is chosen from."""
    offers = contract.offers
    if offers.actions:
        return ", ".join(offers.actions)
    if isinstance(offers, ByModel):
        return f"one of up to {offers.candidates} candidates"
    return f"a point of a {learning_of(contract).region.get('kind', 'ball')} in {offers.dimension} dimensions"


def values(field: Field) -> str:
    """What a field may be.

    >>> values(Number(low=0.0, high=100.0, middle=20.0)), values(Category(values=("it", "de")))
    ('0 to 100, half below 20', 'it | de')
    """
    match field:
        case Number(low=low, high=high, middle=None):
            return f"{low:g} to {high:g}"
        case Number(low=low, high=high, middle=middle):
            return f"{low:g} to {high:g}, half below {middle:g}"
        case Category(values=words):
            return " | ".join(words)
        case _:
            return "yes or no"


def size(octets: int) -> str:
    """How long a report is."""
    return "one byte" if octets == 1 else f"{octets} bytes"


def many(number: int, what: str) -> str:
    """So many of these, as people say it.

    >>> many(1, "run"), many(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{number:,} {what}" + "s" * (number != 1)
