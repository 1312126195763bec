"""A server shows people what they agree to."""

from serving import ARMS, MODEL
from sottovoce.protocol.contract import digest_of
from test_cli import refused, typed


def test_anybody_can_read_the_statement_of_a_task(live):
    for task, field in ((ARMS["id"], "ticket"), (MODEL["id"], "permit")):
        answer = live.server.call("GET", f"/v1/tasks/{task}/statement")
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        page = answer.body.decode()
        assert f"<code>{field}</code>" in page
        assert digest_of(live.server.call("GET", f"/v1/tasks/{task}/contract").body) in page
        assert "All that the task has learned comes from private reports" in page


def test_rows_without_noise_are_counted_in_the_statement(live):
    live.server.create(ARMS | {"id": "started"})
    rows = [{"message": [1.0], "action": 0}, {"message": [-1.0], "action": 1}]
    assert live.server.admin("POST", "/v1/tasks/started/warm", {"rows": rows}).status == 200
    assert (
        "2 rows, public or given with consent" in live.server.call("GET", "/v1/tasks/started/statement").body.decode()
    )
    said = typed("statement", "started", "--server", f"http://127.0.0.1:{live.server.port}")
    assert "The 2 rows that the task started from have no such protection." in " ".join(said.split())


def test_an_unknown_task_has_no_statement(live):
    assert live.server.call("GET", "/v1/tasks/nothing/statement").status == 404
    assert "there is no such task" in refused(
        "statement", "nothing", "--server", f"http://127.0.0.1:{live.server.port}"
    )
