"""Joining a task: its contract is fetched, judged and pinned. From then on it is this contract or none."""

import msgspec

from sottovoce.client.http import Transport
from sottovoce.client.ledger import Limits
from sottovoce.client.network import fetch_contract
from sottovoce.client.terms import Terms, accept, expired
from sottovoce.client.vault import TaskVault, Vault
from sottovoce.protocol.contract import digest_of
from sottovoce.protocol.errors import ConfigurationError, ContractChanged, ContractRefused, Unreachable


def join(
    vault: Vault, transport: Transport, server: str, task: str, limits: Limits, epsilon: float | None, now: float
) -> tuple[TaskVault, Terms]:
    """The task's place in the vault and its terms; without a server, those that were pinned."""
    pinned = next((row.contract for row in vault.joined(server, task)), None)
    body = _served(transport, task, pinned)
    if pinned is not None and digest_of(pinned) != digest_of(body):
        raise ContractChanged(f"{server} has another contract for {task!r} than the one this device joined: refused")
    terms = accept(body, task, limits, epsilon)
    if pinned is None and expired(terms.contract, now):
        raise ContractRefused(f"task {task!r} expired on {terms.contract.expires}")
    with vault.transaction(flush=True):
        return vault.join(server, task, body, msgspec.json.encode(limits)), terms


def _served(transport: Transport, task: str, pinned: bytes | None) -> bytes:
    try:
        return fetch_contract(transport, task)
    except (Unreachable, ConfigurationError):
        if pinned is None:
            raise
        return pinned
