"""The live device in Python: chooses, observes and reports; the owner's ledger is here.

>>> from sottovoce.client import Device, Limits
>>> device = Device("https://learn.example", "headline", folder="./state")       # doctest: +SKIP
>>> decision = device.choose({"age": 34, "country": "it"})                       # doctest: +SKIP
>>> device.observe(decision.id, reward=1.0)                                      # doctest: +SKIP
>>> device.send()                                                                # doctest: +SKIP
"""

from sottovoce.client.answers import Decision, Sent, Waiting
from sottovoce.client.device import Device
from sottovoce.client.http import Http, Response, Transport
from sottovoce.client.ledger import Balance, Limits
from sottovoce.client.people import Devices

__all__ = ["Balance", "Decision", "Device", "Devices", "Http", "Limits", "Response", "Sent", "Transport", "Waiting"]
