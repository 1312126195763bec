"""Traces say how long something took, by route and number of a task; and never when one person reported."""

import asyncio
import http.server
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from test_hub import Idle, asked
from test_store import report

from serving import ARMS, TOKEN, Server, created, free_port, ticket_report, until
from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server import tracing
from sottovoce.server.admins import Admins
from sottovoce.server.store.sqlite import SqliteStore
from sottovoce.server.tracing import LEAST, OFF, Spans, tracing_of
from sottovoce.server.web.app import Application
from sottovoce.server.web.hub import Hub

SAID = {
    "http.request.method", "http.route", "http.response.status_code",
    "sottovoce.task", "sottovoce.reports", "sottovoce.learned",
}  # fmt: skip
"""All that a span may say."""


@pytest.fixture
def kept() -> InMemorySpanExporter:
    return InMemorySpanExporter()


def spans(kept: InMemorySpanExporter) -> list[ReadableSpan]:
    return sorted(kept.get_finished_spans(), key=lambda span: span.start_time or 0)


def names(kept: InMemorySpanExporter) -> list[str]:
    return [span.name for span in spans(kept)]


def served(folder: Path, kept: InMemorySpanExporter, *, single: bool) -> None:
    """A commit of one report and one of many, two requests of devices, one of the team, and one to nowhere."""
    store = SqliteStore(folder)
    created(store)

    async def scene() -> None:
        async with Hub(store, Idle(), tracing=Spans(SimpleSpanProcessor(kept), single=single)) as hub:
            application = Application(hub, Admins(), 0.0)
            await hub._thread.append([report(0)])
            await hub._thread.append([report(n) for n in range(1, LEAST + 1)])
            for path in ("/v1/tasks/arms", "/v1/tasks/arms/model", "/v1/tasks", "/nowhere/198.51.100.7"):
                await asked(application, path)

    asyncio.run(scene())


def test_one_report_and_one_device_have_no_span(tmp_path: Path, kept: InMemorySpanExporter):
    served(tmp_path, kept, single=False)
    assert names(kept) == ["commit", "GET /v1/tasks"]
    commit, team = spans(kept)
    assert commit.attributes == {"sottovoce.reports": LEAST}
    assert (commit.start_time or 0) < (commit.end_time or 0)
    assert team.attributes is not None
    assert (team.attributes["http.route"], team.attributes["http.response.status_code"]) == ("/v1/tasks", 403)
    assert commit.context.trace_id != team.context.trace_id


def test_whoever_asks_for_all_gets_single_requests_and_still_no_paths(tmp_path: Path, kept: InMemorySpanExporter):
    served(tmp_path, kept, single=True)
    devices = ["GET /v1/tasks/{id}", "GET /v1/tasks/{id}/model"]
    assert names(kept) == ["commit", "commit", *devices, "GET /v1/tasks"]
    for span in spans(kept):
        assert {*(span.attributes or {})} <= SAID


def test_learning_is_linked_from_publication_to_publication(kept: InMemorySpanExporter):
    traced = Spans(SimpleSpanProcessor(kept))
    for task, reports in ((1, LEAST), (2, LEAST), (1, LEAST - 1), (1, 500)):
        with traced.fold(task, reports), traced.publish(task, reports):
            pass
    first, published, _, _, last, _ = spans(kept)
    assert names(kept) == ["fold", "publish"] * 3
    assert published.parent == first.context
    assert [link.context for link in last.links] == [published.context]
    assert last.attributes == {"sottovoce.task": 1, "sottovoce.reports": 500}


def test_an_error_of_the_server_is_marked(kept: InMemorySpanExporter):
    traced = Spans(SimpleSpanProcessor(kept))
    for status in (404, 500):
        with traced.request("GET", "/v1/tasks", team=True) as told:
            told(status)
    assert [span.status.is_ok for span in spans(kept)] == [True, False]


# --- on and off ------------------------------------------------------------------------------------------------------


def test_nothing_of_opentelemetry_is_imported_unless_it_is_wanted():
    code = "import sottovoce.server.serve, sottovoce.server.learn.process, sys; "
    code += "from sottovoce.server.tracing import OFF, tracing_of; assert tracing_of(None) is OFF; "
    code += "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_traces_go_where_the_environment_says_unless_they_are_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{free_port()}")
    assert tracing_of("off") is OFF
    found = tracing_of(None)
    assert isinstance(found, Spans)
    found.close()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tracing, "NEEDED", ("opentelemetry.sdk", "a_package_that_is_not_there.sdk"))
    with pytest.raises(ConfigurationError, match=r"pip install \"sottovoce\[tracing\]\""):
        tracing_of("groups")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert tracing_of(None) is OFF


# --- over the wire ---------------------------------------------------------------------------------------------------


class Collector:
    """Takes spans over OTLP/HTTP, as a collector does."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.bodies: list[bytes] = []
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.path == "/v1/traces"
                body = self.rfile.read(int(self.headers["content-length"]))
                collector.bodies.append(body)
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    for scope in resource.scope_spans:
                        collector.spans += scope.spans
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *ignored: object) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def names(self) -> set[str]:
        return {span.name for span in self.spans}


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.server.shutdown()
    found.server.server_close()


def test_a_server_sends_its_spans_and_those_of_its_learner(tmp_path: Path, collector: Collector):
    address = f"http://127.0.0.1:{collector.server.server_address[1]}"
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    server = Server(tmp_path, environment=settings | {"OTEL_BSP_SCHEDULE_DELAY": "50"}).start()
    try:
        contract = server.create(ARMS)
        reports = [ticket_report(contract, ticket) for ticket in server.tickets("arms", 50)]
        server.report("arms", *reports)
        server.report("arms", ticket_report(contract, *server.tickets("arms", 1)))
        server.caught_up("arms")
        until(lambda: {"POST /v1/tasks", "commit", "fold", "publish"} <= collector.names, seconds=20)
        server.stop()
    finally:
        server.close()
    assert collector.names == {"POST /v1/tasks", "commit", "fold", "publish"}
    (commit,) = (span for span in collector.spans if span.name == "commit")
    assert [(one.key, one.value.int_value) for one in commit.attributes] == [("sottovoce.reports", 50)]
    sent = b"".join(collector.bodies)
    for secret in (TOKEN, "127.0.0.2", reports[0]["ticket"], reports[0]["nonce"], "arms"):
        assert secret.encode() not in sent


def test_a_collector_that_is_gone_holds_nothing_up_and_is_told_of_in_the_log(tmp_path: Path):
    settings = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{free_port()}", "OTEL_BSP_SCHEDULE_DELAY": "50"}
    server = Server(tmp_path, environment=settings).start()
    try:
        assert server.admin("GET", "/v1/tasks").status == 200
        start = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - start < 10
    finally:
        server.close()
    lines = server.log.read_text().splitlines()
    assert all(line.startswith('{"time":') for line in lines)
    assert any("encountered while exporting" in line for line in lines), lines
