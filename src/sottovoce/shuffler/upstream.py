"""The server as a shuffler sees it: it asks what everybody may ask, and sends batches with a token."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from sottovoce.client.http import Response, Transport, asked, read
from sottovoce.protocol.codec import to_text
from sottovoce.protocol.errors import WireError
from sottovoce.protocol.problems import problem_from
from sottovoce.protocol.wire import ShuffledReport, ShuffledReports, TaskStatus, Verdict, Verdicts
from sottovoce.shuffler.journal import Group, Named


class Upstream:
    """One request at a time, in a thread of its own. Raises OSError or WireError where there is no answer of use."""

    def __init__(self, transport: Transport, token: str) -> None:
        self._transport, self._headers = transport, {"Authorization": f"Bearer {token}"}
        self._thread = ThreadPoolExecutor(1, "upstream")

    async def contract(self, task: str) -> bytes:
        return asked(await self._request("GET", f"/v1/tasks/{task}/contract")).body

    async def status(self, task: str) -> TaskStatus:
        return read(asked(await self._request("GET", f"/v1/tasks/{task}")), TaskStatus)

    async def model(self, task: str) -> bytes:
        return asked(await self._request("GET", f"/v1/tasks/{task}/model")).body

    async def send(self, task: str, group: Group, reports: Sequence[Named]) -> list[Verdict]:
        """The server's verdicts on a batch. The sender's address and token are all that it learns besides."""
        mixed = [ShuffledReport(id=to_text(name), payload=to_text(payload)) for name, payload in reports]
        batch = ShuffledReports(version=group.version.hex(), gate=group.gate, reports=mixed)
        answer = await self._request("POST", f"/v1/tasks/{task}/batches", msgspec.json.encode(batch))
        if answer.status != 200:
            detail = problem_from(answer.body).detail
            raise WireError(f"the server answered a batch with status {answer.status}: {detail}")
        verdicts = read(answer, Verdicts).verdicts
        if len(verdicts) != len(mixed):
            raise WireError("the server has not judged every report of a batch")
        return verdicts

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    async def _request(self, method: str, path: str, body: bytes | None = None) -> Response:
        headers = self._headers if method == "POST" else None
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._transport.request, method, path, body, headers)
