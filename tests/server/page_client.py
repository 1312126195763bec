"""A device written from docs/protocol.md alone. It imports nothing of the package; its tables are read from the page.

python page_client.py PAGE SERVER TASK REPORTS    prints one verdict a line
"""

import base64
import hashlib
import json
import math
import re
import secrets
import sys
import urllib.request
from pathlib import Path

MASK = 0xFFFFFFFF


def text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def octets(data: str) -> bytes:
    return base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))


class Page:
    """The tables of the codebook."""

    def __init__(self, path: str) -> None:
        page = Path(path).read_text("utf-8")
        self.upper, self.outermost = (
            [int(number) for number in re.search(f"`{name}`:\n\n```text\n(.*?)```", page, re.DOTALL)[1].split()]
            for name in ("UPPER", "OUTERMOST")
        )


def threefry(key: tuple[int, int], first: int, second: int) -> tuple[int, int]:
    """Threefry-2x32, 20 rounds."""
    schedule = (*key, key[0] ^ key[1] ^ 0x1BD11BDA)
    x, y = (first + schedule[0]) & MASK, (second + schedule[1]) & MASK
    for group in range(5):
        for rotation in ((13, 15, 26, 6), (17, 29, 16, 24))[group % 2]:
            x = (x + y) & MASK
            y = ((y << rotation) | (y >> (32 - rotation))) & MASK
            y ^= x
        x = (x + schedule[(group + 1) % 3]) & MASK
        y = (y + schedule[(group + 2) % 3] + group + 1) & MASK
    return x, y


def vector(page: Page, coin: bytes, pair: int, dimension: int) -> list[int]:
    k0, k1, s = (int.from_bytes(coin[start : start + 4], "big") for start in (0, 4, 8))
    blocks, data = -(-dimension // 8), b""
    for block in range(blocks):
        data += b"".join(word.to_bytes(4, "little") for word in threefry((k0, k1), pair * blocks + block, s))
    found = []
    for place, v in enumerate(data[:dimension]):
        size = page.upper[v - 128] if v >= 128 else page.upper[127 - v]
        if v in (0, 255):
            size = page.outermost[threefry((k0, k1), pair * blocks * 8 + place, s ^ 0x7A11)[0] & 255]
        found.append(size if v >= 128 else -size)
    return found


def sphere(page: Page, numbers: dict, message: list[float], radius: float, coin: bytes) -> bytes:
    unit = [m / radius for m in message]
    lifted = [round(u * 2**15) for u in [*unit, math.sqrt(max(0.0, 1 - sum(u * u for u in unit)))]]
    scores: list[float] = []
    for pair in range(numbers["candidates"] // 2):
        candidate = vector(page, coin, pair, len(lifted))
        score = sum(a * b for a, b in zip(candidate, lifted, strict=True)) / math.sqrt(sum(a * a for a in candidate))
        scores += [score, -score]
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    cap, inside, outside = numbers["cap"], numbers["inside"], numbers["outside"]
    draw = secrets.randbelow(cap * inside + (len(scores) - cap) * outside)
    place = draw // inside if draw < cap * inside else cap + (draw - cap * inside) // outside
    return order[place].to_bytes(1 if len(scores) <= 256 else 2, "big")


def levels(numbers: dict, message: float) -> bytes:
    k, keep, flip = numbers["levels"], numbers["keep"], numbers["flip"]
    level, rest = divmod(round((message + 1) / 2 * (k - 1) * 2**40), 2**40)
    level += secrets.randbelow(2**40) < rest
    draw = secrets.randbelow(keep + (k - 1) * flip)
    if draw >= keep:
        other = (draw - keep) // flip
        level = other + (other >= level)
    return level.to_bytes(1 if k <= 256 else 2, "big")


class Device:
    def __init__(self, page: str, server: str, task: str) -> None:
        self.page, self.base = Page(page), f"{server}/v1/tasks/{task}"
        body, status = self.call("contract"), json.loads(self.call())
        assert hashlib.sha256(body).hexdigest() == status["digest"]
        self.contract = json.loads(body)
        assert self.contract["format"] == 3
        assert self.contract["extensions"].keys() <= {"holdout"}
        self.numbers, self.terms = (
            {name: float(value) if isinstance(value, str) else value for name, value in found.items()}
            for found in (self.contract["gates"][0]["numbers"], self.contract["reward"])
        )

    def call(self, route: str = "", body: object = None) -> bytes:
        data = None if body is None else json.dumps(body).encode()
        address = f"{self.base}/{route}" if route else self.base
        request = urllib.request.Request(address, data, {"content-type": "application/json"} if data else {})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def permit(self, route: str) -> tuple[dict, bytes]:
        nonce = secrets.token_bytes(12)
        asked = {"commitments": [text(hashlib.sha256(nonce).digest())]}
        return json.loads(self.call(route, asked))[route][0], nonce

    def report(self, reward: float) -> str:
        terms = self.terms
        share = (reward - terms["low"]) / (terms["high"] - terms["low"])
        y = terms["unit_low"] + share * (terms["unit_high"] - terms["unit_low"])
        said = self.by_model(y) if self.contract["offers"]["kind"] == "model" else self.by_ticket(y)
        (verdict,) = json.loads(self.call("reports", {"reports": [said | {"gate": 0}]}))["verdicts"]
        return verdict

    def by_ticket(self, y: float) -> dict:
        offer, nonce = self.permit("offers")
        low, high = (float(self.contract["domain"][name]) for name in ("low", "high"))
        message = max(-1.0, min(1.0, (y - (high + low) / 2) / ((high - low) / 2)))
        return {"ticket": offer["ticket"], "nonce": text(nonce), "payload": text(levels(self.numbers, message))}

    def by_model(self, y: float) -> dict:
        body = self.call("model")
        model, x = json.loads(body), self.features()
        domain, bound = self.contract["domain"], float(self.contract["domain"]["bound"])
        assert (model["kind"], domain["kind"]) == ("generalized", "gradient")
        z = sum(a * b for a, b in zip(model["anchor"], x, strict=True))
        assert self.contract["offers"]["link"]["name"] == "logistic"
        residual = max(-bound, min(bound, 1 / (1 + math.exp(-z)) - y))
        permit, nonce = self.permit("permits")
        coin = hashlib.sha256(octets(permit["permit"]) + nonce).digest()
        if self.measures(coin):
            payload = self.measured(y)
        else:
            payload = sphere(self.page, self.numbers, [residual * a for a in x], bound, coin[:12])
        version = hashlib.sha256(body).hexdigest()[:32]
        return {"permit": permit["permit"], "nonce": text(nonce), "version": version, "payload": text(payload)}

    def measures(self, coin: bytes) -> bool:
        """Is the report for the baseline or the choice?"""
        holdout = self.contract["extensions"].get("holdout", {"share": "0"})
        return int.from_bytes(coin[12:18], "big") / 2**48 < 2 * float(holdout["share"])

    def measured(self, y: float) -> bytes:
        """The reward alone, as long as the other payloads."""
        low, high = self.terms["unit_low"], self.terms["unit_high"]
        drawn = levels(self.contract["extensions"]["holdout"]["gates"][0], 2 * (y - low) / (high - low) - 1)
        return drawn.ljust(1 if self.numbers["candidates"] <= 256 else 2, b"\0")

    def features(self) -> list[float]:
        """A person whose numbers are all at the lower end, in the block of the first action."""
        fields = self.contract["offers"]["fields"]
        assert all(field["kind"] == "number" for field in fields.values())
        own = [value / math.sqrt(1 + len(fields)) for value in [1.0] + [-1.0] * len(fields)]
        return own + [0.0] * (len(own) * (len(self.contract["offers"]["actions"]) - 1))


if __name__ == "__main__":
    device = Device(*sys.argv[1:4])
    for number in range(int(sys.argv[4])):
        print(device.report(device.terms["high" if number % 2 else "low"]))
    assert not any(name.partition(".")[0] == "sottovoce" for name in sys.modules)
