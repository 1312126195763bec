"""A table of public or consented answers, encoded here and sent to a server before its first report."""

from pathlib import Path

from sottovoce.admin.remote import Remote
from sottovoce.catalogue.table_file import rows_of
from sottovoce.catalogue.task import learning_of
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.errors import BadInput, ConfigurationError, Refused
from sottovoce.protocol.wire import LARGEST_BATCH
from sottovoce.users.warm import Answer, answers_of, warm_rows


def load_answers(path: Path, contract: Contract) -> list[Answer]:
    """The rows of a CSV file, checked; every error names the file."""
    try:
        found = answers_of(contract, rows_of(path))
    except BadInput as error:
        raise ConfigurationError(f"{path}: {error}") from error
    if not found:
        raise ConfigurationError(f"{path} has no rows below its headings")
    return found


def send_answers(remote: Remote, contract: Contract, answers: list[Answer]) -> int:
    """Send them in batches: what a device would send, without noise. Returns how many were kept.

    A gradient is taken at the present model, so there the batches are as long as a model lasts.
    """
    gradients = isinstance(contract.offers, ByModel) and contract.offers.link is not None
    size = min(LARGEST_BATCH, learning_of(contract).publish_every) if gradients else LARGEST_BATCH
    kept = 0
    for start in range(0, len(answers), size):
        remote.settled(contract.id)
        model = remote.model(contract) if gradients else None
        try:
            kept += remote.warm(contract.id, warm_rows(contract, answers[start : start + size], model))
        except Refused as error:
            raise Refused(f"{contract.id} was created, but it was not started from the answers: {error}") from error
    return kept
