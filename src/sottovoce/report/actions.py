"""An entry of the log of actions in words."""

from collections.abc import Mapping
from typing import Any

from sottovoce.report.terms import many

DONE = {
    "create": "created",
    "predict": "stored a prediction",
    "warm": "started it from rows without noise",
    "pause": "paused",
    "resume": "resumed",
    "promote": "promoted: devices choose by what was learned",
    "rollback": "rolled back",
    "export": "exported the journal",
    "admission-key": "read the admission key",
}
"""What each action is called; one that a newer server has keeps its own name."""


def sentence_of(action: str, detail: Mapping[str, Any], status: int) -> str:
    """What somebody did, and what became of it.

    >>> sentence_of("rollback", {"learned": 500}, 200), sentence_of("rollback", {"learned": 500}, 202)
    ('rolled back to 500 reports', 'begun: rollback to 500 reports')
    >>> sentence_of("pause", {"problem": "not-found"}, 404), sentence_of("pause", {}, 0)
    ('not done: pause (not-found)', 'not known how it ended: pause')
    >>> sentence_of("refused", {"times": 17, "routes": ["GET /v1/tasks"], "addresses": ["192.0.2.7"]}, 401)
    '17 requests refused: no token, or none of this server (GET /v1/tasks)'
    """
    if action == "refused":
        return _refused(detail, status)
    more = _more(action, detail)
    if status == 0:
        return f"not known how it ended: {action}{more}"
    if status >= 400:
        return f"not done: {action}{more} ({detail.get('problem') or status})"
    return f"begun: {action}{more}" if status == 202 else DONE.get(action, action) + more


def _more(action: str, detail: Mapping[str, Any]) -> str:
    if action == "rollback" and "learned" in detail:
        return f" to {many(detail['learned'], 'report')}"
    if action == "warm" and "rows" in detail:
        return f" ({detail['rows']:,})"
    if action == "create" and "digest" in detail:
        mode = " as an apprentice" if detail.get("mode") == "apprentice" else ""
        return f"{mode}, contract {detail['digest'][:12]}"
    return ""


def _refused(detail: Mapping[str, Any], status: int) -> str:
    requests = many(detail.get("times", 1), "request")
    why = "no token, or none of this server" if status == 401 else "the token does not allow it"
    return f"{requests} refused: {why} ({', '.join(detail.get('routes', []))})"
