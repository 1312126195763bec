"""A guessed task as the text of its file, with comments for the person who corrects it."""

import json
from collections.abc import Iterator

from sottovoce.catalogue.task_file import TaskFile
from sottovoce.protocol.fields import Category, Field, Number

HEAD = """\
# A task of Sottovoce, guessed from {source}. Correct it, and review it like code.
# `sottovoce try {source} ... --task {path}` tries it, `sottovoce task create {path}` sends it to a server.
#
# Ranges, words and the range of the reward were taken from the table. A private deployment has no table to look at:
# declare them from what you know, before anybody answers. What lies outside a range is clipped.
"""


def task_text(file: TaskFile, source: str, path: str) -> str:
    """The file, ready to be created; reading it gives the same task."""
    privacy, reward = file.privacy, file.reward
    lines = [
        HEAD.format(source=source, path=path),
        f"id = {_quoted(file.id)}",
        f"title = {_quoted(file.title)}",
        f"learner = {_quoted(file.learner)}",
        *(['preset = "rare"                   # nearly all people give the lowest reward'] * (file.preset == "rare")),
        f"actions = {_list(file.actions)}",
        *(["one_right = true                  # all other actions of a person get the lowest reward"] * file.one_right),
        f"horizon = {file.horizon}                   # about how many reports are expected; learners plan for it",
        f"expires = {file.expires.isoformat()}",
        "",
        "[privacy]",
        f"epsilon = {privacy.epsilon}                     # what one report may reveal",
        f"lifetime = {privacy.lifetime}                   # all reports of one device together",
        "",
        "[reward]",
        f"low = {reward.low}",
        f"high = {reward.high}",
        f"default = {reward.default}                     # what counts when no reward comes in time",
        f"wait = {_quoted(reward.wait)}                      # every report leaves after it",
    ]
    for name, field in file.fields.items():
        lines += ["", f"[fields.{_quoted(name)}]", *_field(field)]
    return "\n".join(lines) + "\n"


def _field(field: Field) -> Iterator[str]:
    match field:
        case Number(low=low, high=high, middle=middle):
            yield from ('kind = "number"', f"low = {low}", f"high = {high}")
            if middle is not None:
                yield f"middle = {middle}"
        case Category(values=values):
            yield from ('kind = "category"', f"values = {_list(values)}")
        case _:
            yield 'kind = "flag"'


def _list(words: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _quoted(text: str) -> str:
    """A basic string of TOML: that of JSON, except that DEL must be written as its number too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
