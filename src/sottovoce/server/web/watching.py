"""What the metrics say of each task."""

from collections.abc import Mapping

from sottovoce.server.metrics import Metrics
from sottovoce.server.web.gain import gain_of, watched
from sottovoce.server.web.task import LiveTask


def tell_tasks(metrics: Metrics, tasks: Mapping[str, LiveTask], now: float) -> None:
    """Set what is a state, and is not counted as it happens."""
    for id, task in tasks.items():
        metrics.journalled.labels(id).set(task.reports + task.warm)
        metrics.behind.labels(id).set(task.behind)
        metrics.open.labels(id).set(task.state(now) == "open")
        metrics.learned.labels(id).set(task.news.learned)
        metrics.published.labels(id).set(task.news.published)
        metrics.changes.labels(id).set(task.published.changes if task.ready else 0)
        metrics.left_out.labels(id).set(task.news.left_out)
        for of, value in watched(gain_of(task.contract, task.published) if task.ready else None):
            metrics.gain.labels(id, of).set(value)
        metrics.unread.labels(id).set(task.news.unread)
        metrics.suspicious.labels(id).set(task.news.suspicious)
        metrics.discarding.labels(id).set(task.balance.discarding)
        metrics.set_aside.labels(id).set(task.broken)
