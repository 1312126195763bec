"""Traces for OpenTelemetry, behind the extra `tracing`: what took how long, by route and by number of a task.

A trace has times. The time of a span about one report is the time of that report, which the server keeps nowhere else.
So a span of a commit or of learning stands for at least LEAST reports, and only what the team asks for has a span of
its own; with level "all" whatever any device asks for has one too. No span has an address, an id, a token or a content,
and what a request says of a trace of its own is not read.
"""

import contextlib
import importlib.util
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Literal

from sottovoce.protocol.errors import ConfigurationError
from sottovoce.server.logs import log, to_stderr

Level = Literal["off", "groups", "all"]
VARIABLE = "SOTTOVOCE_TRACE"
"""Tells the learner's process the level."""
ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
LEAST = 16
"""Reports that a span stands for."""
LAST_SECONDS = 2.0
"""How long the end waits for a collector that does not answer."""
NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


class Off:
    """No traces, and nothing of OpenTelemetry is imported. Each method takes what may be said, and nothing else."""

    def request(self, method: str, route: str, *, team: bool) -> AbstractContextManager[Callable[[int], None]]:
        """A request, while the context lasts; it is told the status of the answer."""
        return UNTOLD

    def commit(self, reports: int, seconds: float) -> None:
        """So many reports were kept together, and that took so long."""

    def fold(self, task: int, reports: int) -> AbstractContextManager[None]:
        """So many reports of a task are learned from, while the context lasts."""
        return NOTHING

    def publish(self, task: int, learned: int) -> AbstractContextManager[None]:
        """What was learned is published; within a fold."""
        return NOTHING

    def close(self) -> None:
        """Send what is left."""


NOTHING = contextlib.nullcontext()
UNTOLD: AbstractContextManager[Callable[[int], None]] = contextlib.nullcontext(lambda status: None)
OFF = Off()


class Spans:
    """The same for a processor of OpenTelemetry's SDK."""

    def __init__(self, processor: Any, *, single: bool = False) -> None:
        from opentelemetry import trace
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider

        named = Resource.create({"service.name": "sottovoce"}).merge(OTELResourceDetector().detect())
        self._provider = TracerProvider(resource=named, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer, self._api, self._single = self._provider.get_tracer("sottovoce"), trace, single
        self._published: dict[int, Any] = {}
        """The newest publication of each task, to which what follows it is linked."""

    @contextlib.contextmanager
    def request(self, method: str, route: str, *, team: bool) -> Iterator[Callable[[int], None]]:
        if not (team or self._single):
            yield lambda status: None
            return
        said = {"http.request.method": method, "http.route": route}
        span = self._tracer.start_span(f"{method} {route}", kind=self._api.SpanKind.SERVER, attributes=said)

        def told(status: int) -> None:
            span.set_attribute("http.response.status_code", status)
            if status >= 500:
                span.set_status(self._api.StatusCode.ERROR)

        with self._api.use_span(span, end_on_exit=True, record_exception=False):
            yield told

    def commit(self, reports: int, seconds: float) -> None:
        if self._says(reports):
            now = time.time_ns()
            start, said = now - int(seconds * 1e9), {"sottovoce.reports": reports}
            self._tracer.start_span("commit", context=_apart(), start_time=start, attributes=said).end(now)

    @contextlib.contextmanager
    def fold(self, task: int, reports: int) -> Iterator[None]:
        if not self._says(reports):
            yield
            return
        said, last = {"sottovoce.task": task, "sottovoce.reports": reports}, self._published.get(task)
        links = [self._api.Link(last)] if last else []
        with self._tracer.start_as_current_span("fold", attributes=said, links=links, record_exception=False):
            yield

    @contextlib.contextmanager
    def publish(self, task: int, learned: int) -> Iterator[None]:
        if not self._api.get_current_span().get_span_context().is_valid:  # the fold is too small to be told of
            yield
            return
        said = {"sottovoce.task": task, "sottovoce.learned": learned}
        with self._tracer.start_as_current_span("publish", attributes=said, record_exception=False) as span:
            yield
        self._published[task] = span.get_span_context()

    def close(self) -> None:
        sending = threading.Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(LAST_SECONDS)

    def _says(self, reports: int) -> bool:
        return self._single or reports >= LEAST


Tracing = Off | Spans


def _apart() -> Any:
    """The context of a span that belongs to no request: a group is of many."""
    from opentelemetry.context import Context

    return Context()


def tracing_of(level: str | None) -> Tracing:
    """As asked for; where nothing is asked for, groups if the environment says where traces go.

    >>> tracing_of("off") is OFF
    True
    """
    wanted = level or ("groups" if any(os.environ.get(name) for name in ENDPOINTS) else "off")
    if wanted == "off":
        return OFF
    if not all(map(_has, NEEDED)):
        if level:
            raise ConfigurationError('--trace needs more packages: pip install "sottovoce[tracing]"')
        log('no traces: pip install "sottovoce[tracing]" brings what they need', logging.WARNING)
        return OFF
    return Spans(_sending(), single=wanted == "all")


def _has(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _sending() -> Any:
    """Sends spans in the background, to where the environment says; what goes wrong is logged as everything else."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    to_stderr("opentelemetry", logging.WARNING)
    return BatchSpanProcessor(OTLPSpanExporter())
