"""The register is complete: every fenced block of the readme and of the manual is run by some test."""

import json
import tomllib
from pathlib import Path

import msgspec
import pytest

from manual import FOLLOWED, NOTHING_TO_RUN, OWN_TEST, ROOT, Block, blocks, every_block, listed, rule_of
from sottovoce.catalogue.resolve import contract_of
from sottovoce.catalogue.task_file import load_task_file
from sottovoce.cli.init import starting_file
from sottovoce.lab.study.file import load_study
from sottovoce.protocol import team, wire
from sottovoce.protocol.contract import Contract
from sottovoce.protocol.errors import ConfigurationError

MESSAGES = (
    wire.TaskStatus, wire.Commitments, wire.Permits, wire.ModelReport, wire.Offers, wire.TicketReport, team.Summary,
    wire.ShuffledReports,
)  # fmt: skip
"""What travels. A problem document has members of its own."""
PROBLEM = {"type", "title", "status", "detail"}


def of_kind(kind: str) -> list[object]:
    return [
        pytest.param(block, id=block.place)
        for block in every_block()
        if block.kind == kind and not listed(block, OWN_TEST)
    ]


def test_every_block_is_run_by_some_test():
    """A block without a rule is a promise that nobody checks: see "Documentation" in CONTRIBUTING.md."""
    assert not [f"{block.place} ({block.kind})" for block in every_block() if rule_of(block) is None]


def test_the_register_names_nothing_that_is_gone():
    every = every_block()
    named = {line for block in every for line in listed(block, {*OWN_TEST, *NOTHING_TO_RUN})}
    assert named == {*OWN_TEST, *NOTHING_TO_RUN}
    assert {*FOLLOWED} <= {block.page for block in every}
    for test in OWN_TEST.values():
        assert (ROOT / test).exists(), test


def test_a_block_that_nobody_runs_is_noticed(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("```text\nout of nowhere\n```\n\n```cobol\nSTOP RUN.\n```\n")
    assert [rule_of(block) for block in blocks(page)] == [None, None]


@pytest.mark.parametrize("block", of_kind("toml"))
def test_a_task_or_study_of_a_page_can_be_used(block: Block, tmp_path: Path):
    """A study is a file of experiments; a task is one as it stands, or a part of one that is added to it."""
    file = tmp_path / "file.toml"
    file.write_text(block.text)
    if "rounds" in tomllib.loads(block.text):
        assert load_study(file) in [load_study(path) for path in (ROOT / "experiments").glob("*.toml")]
        return
    if "id" not in tomllib.loads(block.text):
        whole = starting_file(file, contextual="shuffler" in tomllib.loads(block.text))
        file.write_text(whole + block.text if block.text.startswith("[") else block.text + whole)
    contract_of(load_task_file(file))


def test_a_task_with_a_wrong_name_is_noticed(tmp_path: Path):
    with pytest.raises(ConfigurationError):
        test_a_task_or_study_of_a_page_can_be_used(Block("page", "toml", 'admision = "signed"\n', 1), tmp_path)


@pytest.mark.parametrize("block", of_kind("json"))
def test_a_message_of_a_page_is_one_that_travels(block: Block):
    """Or a part of a contract."""
    told = json.loads(block.text)
    names = {field.name for field in msgspec.structs.fields(Contract)}
    assert told.keys() == PROBLEM or told.keys() <= names or any(_is(told, kind) for kind in MESSAGES)


def _is(told: object, kind: type) -> bool:
    try:
        return bool(msgspec.convert(told, kind))
    except msgspec.ValidationError:
        return False
