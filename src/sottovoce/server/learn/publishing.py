"""What a learner hands over at a publication: a model for everybody, or a pool of offers drawn in advance.

Its randomness comes from a secret of the server, the task and the count of reports, so a replay publishes the same, a
learner that samples does so anew each time, and nobody outside can predict it.
"""

import functools
import hashlib
import hmac
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
from jax import lax

from sottovoce.catalogue.task import learning_of
from sottovoce.engine.complete import Complete
from sottovoce.learners.base import Offer
from sottovoce.protocol.contract import ByModel, Contract
from sottovoce.protocol.offers import model_body, version_of
from sottovoce.server.learn import leaves
from sottovoce.server.store.base import PooledOffer, Publication, Published, UnitEstimate

POOL = (64, 1024)
"""Offers drawn at a publication: twice as many as reports until the next or more, since some offers are never answered.
At least 64, to show the learner's law where publications are frequent; at most 1024, to keep a publication small. A
power of two: few sizes are compiled."""


ask_once = jax.jit(Complete.ask)


@functools.partial(jax.jit, static_argnums=3)
def ask_many(learner: Complete, state: Any, key: jax.Array, count: int) -> Offer:
    """So many offers at once, each as if the persons of those before had answered as is expected."""

    def one(state: Any, key: jax.Array) -> tuple[Any, Offer]:
        offer = learner.ask(state, key)
        return learner.pretend(state, offer.memo), offer

    keys = jax.random.split(key, count)
    if learner.pretends:
        return lax.scan(one, state, keys)[1]
    return jax.vmap(Complete.ask, in_axes=(None, None, 0))(learner, state, keys)


class Said(NamedTuple):
    """What private reports say, for the summary."""

    arms: list[UnitEstimate]
    """Of each arm; none where there is a model."""
    measured: list[UnitEstimate]
    """Of a holdout: of the baseline and of the choice; else none."""
    aside: int
    """Reports that measured and taught nothing."""


class Remembered(NamedTuple):
    """What a ticket carries for the learner, or the store for a version of a model."""

    memo: Any
    arm: Any


def publication_of(
    contract: Contract, secret: bytes, learner: Complete, state: Any, count: int, done: bool, said: Said
) -> Publication:
    """What offers are made from after so many reports, until the next publication."""
    key, arms = publication_key(secret, contract.id, count), said.arms
    told: dict[str, Any] = {"changes": learner.changes(state), "measured": said.measured, "aside": said.aside}
    if isinstance(contract.offers, ByModel):
        return _model(contract.offers.model, learner, state, count, key, Published(**told))
    if done:
        published = Published(done=True, recommendation=recommended(learner.recommend(state)), estimates=arms)
    else:
        wanted = 2 ** (2 * learning_of(contract).publish_every - 1).bit_length()
        pool = _pool(learner, state, key, int(np.clip(wanted, *POOL)))
        contexts = _contexts(learner, len(arms))
        published = Published(offers=pool, estimates=arms, contexts=contexts, **told)
    return Publication(count, "", msgspec.msgpack.encode(published), b"", 0)


def publication_key(secret: bytes, task: str, count: int) -> jax.Array:
    """The random key of a publication.

    >>> one, other = (publication_key(b"secret", "lunch", count) for count in (0, 1))
    >>> bool(jax.random.key_data(one)[0] == jax.random.key_data(other)[0])
    False
    """
    drawn = hmac.digest(secret, f"{task}\0{count}".encode(), hashlib.sha256)
    words = jnp.asarray(np.frombuffer(drawn[:8], ">u4").astype(np.uint32))
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def recommended(found: Any) -> Any:
    """A recommendation as it travels: an arm, the numbers of several arms, or a point.

    >>> recommended(np.array([True, False, True])), recommended(np.int64(2))
    ([0, 2], 2)
    """
    found = np.asarray(found)
    return np.flatnonzero(found).tolist() if found.dtype == bool else found.tolist()


def _model(kind: str, learner: Complete, state: Any, count: int, key: jax.Array, published: Published) -> Publication:
    offer = ask_once(learner, state, key)
    model = model_body(kind, offer.public)
    memo = leaves.pack(Remembered(offer.memo, offer.arm))
    body = msgspec.msgpack.encode(msgspec.structs.replace(published, model=model))
    return Publication(count, version_of(model), body, memo, 0)


def _pool(learner: Complete, state: Any, key: jax.Array, count: int) -> list[PooledOffer]:
    offers = ask_many(learner, state, key, count)
    actions, memos = np.asarray(offers.public).tolist(), leaves.pack_rows(Remembered(offers.memo, offers.arm), count)
    return [PooledOffer(action, memo) for action, memo in zip(actions, memos, strict=True)]


def _contexts(learner: Complete, arms: int) -> list[bytes]:
    """For each arm the context of a report that answers no offer; none where the learner cannot use such reports."""
    memos = [learner.memo_of(np.asarray(arm)) for arm in range(arms)]
    return [leaves.pack(Remembered(memo, arm)) for arm, memo in enumerate(memos) if memo is not None]
