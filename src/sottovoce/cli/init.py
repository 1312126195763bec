"""`sottovoce init`: a commented starting file of a task."""

import datetime
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from sottovoce.protocol.errors import ConfigurationError

HEAD = """\
# A task of Sottovoce. Review it like code: once it is created it is a contract, and devices refuse a changed one.
# `sottovoce task create $path` sends it to a server.

id = "$id"                    # lower-case letters, digits and dashes; part of the address
title = "$title"
"""

ARMS = """\
learner = "thompson"              # `sottovoce algorithms` lists them all
actions = ["Short and plain", "A question", "A number", "A quote"]
"""

CONTEXTUAL = """\
learner = "linucb"                # `sottovoce algorithms` lists them all

# Either name the actions (then the fields describe the person), or say how many candidates an app may show at once
# (then the fields describe each candidate). Few coordinates learn faster: a number or a flag is one, a category one a
# value, and named actions multiply them.
candidates = 5
# actions = ["news", "sport", "games"]
"""

TAIL = """\
horizon = 20_000                  # about how many reports are expected; learners plan for it
expires = $expires             # after this day nothing is asked any more
# publish_every = 100             # reports between two models; a two-hundredth of the horizon when left out
delay = "20s"                     # a device waits at random up to so long before it sends; "10m" for real people
retention = "90d"                 # how long single reports are kept; what was learned from them stays
$mode
[privacy]
epsilon = $epsilon                     # what one report may reveal; `sottovoce plan` says what can be learned with it
# quieter = [1.0, 0.5]            # smaller budgets that a device may choose; a half and a quarter when left out
lifetime = $lifetime                   # all reports of one device together
window = $window                     # ... and within window_days
window_days = 7

[reward]                          # declared once, clipped on the device
low = 0.0
high = 1.0
default = 0.0                     # what counts when no reward comes in time: every decision sends one report
wait = "20s"                      # every report leaves after it: as long as a reward may take, "24h" for real people
"""

FIELDS = """
[fields.price]                    # a number in its range; what lies outside is clipped
kind = "number"
low = 0.0
high = 50.0

[fields.new]                      # true or false
kind = "flag"

[fields.genre]                    # one of a few words; any other counts as none of them
kind = "category"
values = ["crime", "romance", "history"]
"""

MODE = """\
# mode = "apprentice"             # only learn: devices show what the app would have shown anyway
"""


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.")] = Path("task.toml"),
    contextual: Annotated[bool, typer.Option("--contextual", help="Choose by features, on the device.")] = False,
) -> None:
    """Write a commented starting file of a task, to be edited and reviewed."""
    from rich.console import Console

    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(starting_file(path, contextual=contextual))
    except FileExistsError as error:
        raise ConfigurationError(f"{path} is already there; name another file, or remove it first") from error
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from error
    Console().print(f"{path}: edit it, then `sottovoce task create {path}`", highlight=False, soft_wrap=True)


def starting_file(path: Path, *, contextual: bool) -> str:
    """The text of the file; it can be created as it stands."""
    kind = CONTEXTUAL + TAIL + FIELDS if contextual else ARMS + TAIL
    budget = {"epsilon": "4.0", "lifetime": "40.0", "window": "12.0"}
    if not contextual:
        budget = {"epsilon": "2.0", "lifetime": "20.0", "window": "6.0"}
    return Template(HEAD + kind).substitute(
        path=path,
        id="recommend" if contextual else "headline",
        title="Which candidate to recommend" if contextual else "Which headline to show",
        expires=datetime.date.today() + datetime.timedelta(days=180),
        mode=MODE if contextual else "",
        **budget,
    )
