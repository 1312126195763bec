"""Three hundred visitors evaluate a feature flag, and the flag learns from what they buy.

    sottovoce task create examples/openfeature/python/task.toml
    python examples/openfeature/python/visitors.py

All but `set_provider_and_wait` is what an app does with any OpenFeature provider.
"""

import argparse
import random
import tempfile
import time
from collections import Counter

from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.track import TrackingEventDetails

from sottovoce.openfeature import Flag, SottovoceProvider

BUTTONS = {
    "Quiet": {"text": "Buy", "colour": "grey"},
    "Friendly": {"text": "Yes, please", "colour": "green"},
    "Urgent": {"text": "Buy now!", "colour": "red"},
}
BUYERS = {"Buy": 0.05, "Yes, please": 0.9, "Buy now!": 0.1}
"""How often visitors of this made-up shop buy; nobody tells the provider."""


def main() -> None:
    """Serve the visitors one after the other, and say which buttons they saw."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--server", default="http://127.0.0.1:8080")
    options.add_argument("--visitors", type=int, default=300)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        flags = {"checkout": Flag(values=BUTTONS, event="bought")}
        api.set_provider_and_wait(SottovoceProvider(given.server, flags, folder=folder, every=0.2))
        shown = [visit(f"visitor-{number}") for number in range(given.visitors)]
        api.shutdown()
    for name, part in (("first", shown[: given.visitors // 3]), ("last", shown[-(given.visitors // 3) :])):
        counts = Counter(part)
        print(f"{name} {len(part)} visitors:", ", ".join(f"{text} {counts[text]}" for text in BUYERS))


def visit(person: str) -> str:
    """One visitor sees a button, and buys or not."""
    client, context = api.get_client(), EvaluationContext(targeting_key=person)
    button = client.get_object_value("checkout", BUTTONS["Quiet"], context)
    bought = random.random() < BUYERS[button["text"]]
    client.track("bought", context, TrackingEventDetails(value=float(bought)))
    time.sleep(0.01)
    return button["text"]


if __name__ == "__main__":
    main()
