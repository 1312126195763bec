"""Permits and tickets as a device holds them: fetched ahead, used oldest first, each for one report.

A permit is fetched with a request of its own, at a time that has nothing to do with a decision. When its report comes
the server can recognise it, and so know when it was fetched.
"""

from collections.abc import Callable

import msgspec

from sottovoce.client.http import Response, Transport, asked, read
from sottovoce.client.tables import HeldPermit
from sottovoce.client.terms import Terms, action_from, recommendation_from
from sottovoce.client.vault import Vault
from sottovoce.privacy.domains import size
from sottovoce.privacy.drawing import Entropy
from sottovoce.protocol.codec import from_text, to_text
from sottovoce.protocol.contract import ByModel, ByTicket
from sottovoce.protocol.errors import ConfigurationError, WireError
from sottovoce.protocol.permits import NONCE_BYTES, commitment_of
from sottovoce.protocol.problems import problem_from
from sottovoce.protocol.wire import ADMISSION, LARGEST_OFFERS, Commitments, Offers, Permits

AHEAD = 2
"""Permits that a device keeps ready."""
PAUSE = 600
"""One that is missing is fetched after up to so many seconds, at random."""
FOREVER = 2**53
"""Seconds that a permit may claim to be valid."""
LONGEST = 4096
"""Characters of a permit; a ticket has the memo of its offer in it."""


Admission = Callable[[int], str]
"""Asks the app for an admission token for so many tickets or permits."""


class Stock:
    """The permits or tickets of one task."""

    def __init__(
        self, vault: Vault, terms: Terms, transport: Transport, entropy: Entropy, admission: Admission | None = None
    ) -> None:
        if admission is None and "admission" in terms.contract.extensions:
            raise ConfigurationError(
                f"task {terms.contract.id!r} admits people whom its app knows: Device(admission=...) gets their tokens"
            )
        self._admission = admission
        self._vault, self._terms, self._transport, self._entropy = vault, terms, transport, entropy
        self._offers = terms.contract.offers
        self.wanted = AHEAD if isinstance(self._offers, ByModel) else 0
        """How many to keep ready."""
        self._next: float | None = None
        """When the next permit is fetched, if one is missing."""

    def left(self, now: float) -> int:
        """How many can be used by a decision that is made now."""
        return self._vault.permits_left(self._needed_until(now))

    def take(self, now: float) -> HeldPermit | None:
        return self._vault.take_permit(self._needed_until(now))

    def missing(self, now: float) -> int:
        """How many to fetch; none while nothing may be reported."""
        standing = self._vault.standing()
        if standing.opted_out or not standing.open or standing.recommendation is not None:
            return 0
        return max(0, self.wanted - self.left(now))

    def due(self, now: float) -> int:
        """How many to fetch now: all tickets that are missing, but one permit, after a random pause."""
        self._vault.drop_permits(self._needed_until(now))
        missing = self.missing(now)
        if isinstance(self._offers, ByTicket) or not missing:
            return missing
        if self._next is None:
            self._next = now + self._entropy.below(1000 * PAUSE) / 1000
        if now < self._next:
            return 0
        self._next = None
        return 1

    def fetch(self, number: int) -> None:
        """So many tickets, or permits one by one; raises OSError or WireError."""
        if isinstance(self._offers, ByTicket):
            self._fetch_tickets(self._offers, number)
            return
        for _ in range(number):
            nonces, answer = self._commit("permits", 1)
            for nonce, one in zip(nonces, read(answer, Permits).permits, strict=False):
                self._keep(HeldPermit(one.permit, to_text(nonce), b""), one.expires)

    def _fetch_tickets(self, offers: ByTicket, number: int) -> None:
        nonces, answer = self._commit("offers", min(number, LARGEST_OFFERS))
        found = read(answer, Offers)
        with self._vault.transaction():
            if found.done:
                recommendation_from(found.recommendation, offers)
                self._vault.set(recommendation=msgspec.json.encode(found.recommendation))
            for nonce, offer in zip(nonces, found.offers, strict=False):
                try:
                    action_from(offer.action, offers, size(self._terms.mechanism.domain))
                except WireError:
                    self._vault.count("bad_offers")
                    continue
                held = HeldPermit(offer.ticket, to_text(nonce), msgspec.json.encode(offer.action))
                self._keep(held, offer.expires)
            self._vault.set(open=True)

    def _commit(self, route: str, number: int) -> tuple[list[bytes], Response]:
        """New nonces, and the answer to a request with their commitments."""
        nonces = [self._entropy.octets(NONCE_BYTES) for _ in range(number)]
        wanted = Commitments(commitments=[to_text(commitment_of(nonce)) for nonce in nonces])
        path = f"/v1/tasks/{self._terms.contract.id}/{route}"
        answer = self._transport.request("POST", path, msgspec.json.encode(wanted), self._token(number))
        if problem_from(answer.body).name == "task-paused":
            self._vault.set(open=False)
        return nonces, asked(answer)

    def _token(self, number: int) -> dict[str, str] | None:
        """The header of a request that must be admitted. If the app's function fails, nothing is asked for."""
        if self._admission is None or "admission" not in self._terms.contract.extensions:
            return None
        try:
            token = self._admission(number)
            from_text(token)  # nothing else may become a header
            return {ADMISSION: token}
        except Exception as error:
            raise WireError(f"the app gave no admission token: {type(error).__name__}") from error

    def _keep(self, held: HeldPermit, expires: int) -> None:
        if len(held.permit) > LONGEST:
            raise WireError(f"a permit of {len(held.permit)} characters")
        from_text(held.permit)
        self._vault.put_permit(held, max(0, min(expires, FOREVER)))

    def _needed_until(self, now: float) -> float:
        """A permit must be valid when its report is due at the latest; a ticket, when its action is chosen."""
        contract = self._terms.contract
        return now + (contract.reward.wait + contract.delay if isinstance(self._offers, ByModel) else 0)
