"""What the operator of a shuffler watches. Labels name tasks and verdicts, never people."""

from prometheus_client import CollectorRegistry, Counter, Gauge, ProcessCollector, generate_latest


class Metrics:
    """One registry per shuffler.

    >>> metrics = Metrics()
    >>> metrics.lapsed.labels("recommend").inc(3)
    >>> b'sottovoce_shuffler_lapsed_total{task="recommend"} 3.0' in metrics.page()
    True
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        here = {"registry": self._registry, "namespace": "sottovoce_shuffler"}
        ProcessCollector(registry=self._registry)
        self.requests = Counter("requests", "Answers by route and status.", ["route", "status"], **here)
        self.limited = Counter("limited", "Reports, permits and requests that the limit refused.", **here)
        self.permits = Counter("permits", "Permits handed out.", ["task"], **here)
        self.reports = Counter("reports", "Reports of devices by verdict.", ["task", "verdict"], **here)
        self.waiting = Gauge("waiting", "Reports that wait for others, or for the server.", ["task"], **here)
        self.forwarded = Counter(
            "forwarded", "Reports that left, by the server's verdict.", ["task", "verdict"], **here
        )
        self.lapsed = Counter("lapsed", "Reports lost because too few answered the same model.", ["task"], **here)
        self.silent = Gauge("server_silent_seconds", "Time since the server last answered.", **here)

    def page(self) -> bytes:
        return generate_latest(self._registry)
