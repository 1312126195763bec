"""What an operator watches: counters and gauges for Prometheus. Labels name tasks and verdicts, never people."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest


class Metrics:
    """One registry per server.

    >>> metrics = Metrics()
    >>> metrics.reports.labels("headline", "accepted").inc(3)
    >>> b'sottovoce_reports_total{task="headline",verdict="accepted"} 3.0' in metrics.page()
    True
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        here = {"registry": self._registry, "namespace": "sottovoce"}
        ProcessCollector(registry=self._registry)
        self.ready = Gauge("ready", "1 while the server can take reports and learn, as /readyz says.", **here)
        self.requests = Counter("requests", "Answers by route and status.", ["route", "status"], **here)
        self.reports = Counter("reports", "Reports by verdict.", ["task", "verdict"], **here)
        self.tickets = Counter("tickets", "Tickets handed out.", ["task"], **here)
        self.permits = Counter("permits", "Permits handed out.", ["task"], **here)
        self.limited = Counter("limited", "Reports, tickets, permits and requests that the limit refused.", **here)
        self.commit = Histogram("commit_seconds", "Time to put a group of reports on disk.", **here)
        self.group = Histogram("commit_reports", "Reports in a group.", buckets=[1, 4, 16, 64, 256, 1024, 4096], **here)
        self.waiting = Gauge("journal_waiting", "Reports that are not on disk yet.", **here)
        self.journalled = Gauge("journalled", "Reports in the journal.", ["task"], **here)
        self.behind = Gauge("behind", "Reports in the journal that the learner has not come to yet.", ["task"], **here)
        self.open = Gauge("open", "1 while a task wants reports: not paused, expired or done.", ["task"], **here)
        self.learned = Gauge("learned", "Reports folded into the state.", ["task"], **here)
        self.published = Gauge("published", "Reports folded at the newest publication.", ["task"], **here)
        self.changes = Gauge("changes", "How often the learner found that the world has changed.", ["task"], **here)
        self.left_out = Gauge("left_out", "Reports that are learned from no more.", ["task"], **here)
        self.gain = Gauge("gain", "Mean reward of the choice less that of the baseline.", ["task", "of"], **here)
        self.unread = Gauge("unread", "Entries of the journal that could not be read.", ["task"], **here)
        self.suspicious = Gauge("suspicious", "1 while reports cannot come from honest people alone.", ["task"], **here)
        self.discarding = Gauge(
            "discarding", "Clients that were given far more tickets or permits than they used.", ["task"], **here
        )
        self.set_aside = Gauge("set_aside", "1 for a task whose learner failed.", ["task"], **here)
        self.faulty = Gauge("store_faulty", "1 while reports are sent back because the disk cannot take them.", **here)
        self.running = Gauge("learner_running", "1 while the learner's process runs.", **here)
        self.leads = Gauge("learner_leads", "1 where the learner of this server is the one that learns.", **here)
        self.silent = Gauge("learner_silent_seconds", "Time since the learner last said how far it is.", **here)
        self.restarts = Counter("learner_restarts", "How often the learner had to be started again.", **here)

    def watch_learner(self, pid: Callable[[], int]) -> None:
        """Add the memory and the processor time of the learner's process; 0 is none."""
        ProcessCollector(namespace="sottovoce_learner", pid=pid, registry=self._registry)

    def page(self) -> bytes:
        return generate_latest(self._registry)
