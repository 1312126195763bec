"""The live device in Python: chooses, observes, and whispers; the owner's ledger lives here.

>>> from sottovoce.client import Device, Limits
>>> device = Device("https://learn.example", "headline", folder="./state")       # doctest: +SKIP
>>> decision = device.choose({"age": 34, "country": "it"})                       # doctest: +SKIP
>>> device.observe(decision.id, reward=1.0)                                      # doctest: +SKIP
>>> device.send()                                                                # doctest: +SKIP
"""

from sottovoce.client.device import Decision, Device
from sottovoce.client.ledger import Balance, Limits
from sottovoce.client.outbox import Sent, Waiting
from sottovoce.client.transport import Http, Response, Transport

__all__ = ["Balance", "Decision", "Device", "Http", "Limits", "Response", "Sent", "Transport", "Waiting"]
