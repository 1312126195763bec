"""The dashboard: files for everybody, data for whoever has the token, and nothing that another page could use."""

import re
from pathlib import Path
from typing import Any

import pytest
from test_security import problem

import sottovoce.server
from serving import ARMS, MODEL, TOKEN, Server, ticket_report, until
from sottovoce.server.web.pages import FILES

FOLDER = Path(sottovoce.server.__file__).parent / "dashboard"
PREDICTION = {"runs": 8, "followed": 2000, "people_needed": 400, "predicted_regret": 20.0, "uniform_regret": 90.0}
TASK = """
id = "from-a-page"
learner = "kl-ucb"
actions = ["a", "b"]
horizon = 1000
expires = 2099-12-31
[privacy]
epsilon = 2.0
"""


# --- the files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/dashboard", *(f"/dashboard/{name}" for name in FILES)])
def test_a_file_of_the_dashboard_runs_no_script_but_its_own_and_is_in_no_frame(live, path: str):
    answer = live.server.call("GET", path)
    assert answer.status == 200
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy.pop("default-src") == policy.pop("frame-ancestors") == policy.pop("base-uri") == "'none'"
    assert policy.pop("form-action") == policy.pop("trusted-types") == "'none'"
    assert policy.pop("require-trusted-types-for") == "'script'"
    assert set(policy.values()) == {"'self'"}  # nothing inline, nothing from elsewhere
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_every_file_is_served_and_none_speaks_of_another_origin(live):
    assert {file.name for file in FOLDER.iterdir()} == {"index.html", *FILES}
    for file in FOLDER.iterdir():
        path = "/dashboard" if file.name == "index.html" else f"/dashboard/{file.name}"
        assert live.server.call("GET", path).body == file.read_bytes()
        text = file.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")  # a name, which nobody fetches
        assert not re.findall(r"https?:|//[a-z]|innerHTML|eval\(|\sstyle=|\son[a-z]+=\"", text), file


def test_the_page_has_no_script_of_its_own(live):
    page = live.server.call("GET", "/dashboard").body.decode()
    assert re.findall(r"<script[^>]*>(.*?)</script>", page) == [""]


# --- who may read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/v1/overview", "/v1/tasks/arms/overview"])
def test_what_the_dashboard_shows_needs_the_token_as_a_header(live, path: str):
    for headers in ({}, {"authorization": "Bearer wrong"}, {"cookie": f"token={TOKEN}"}):
        problem(live.server.call("GET", path, headers=headers), 401, "unauthorized")
    answer = live.server.admin("GET", path)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert TOKEN.encode() not in answer.body


def test_another_page_cannot_use_an_action_even_of_a_task_that_it_may_report_to(live):
    live.server.create(ARMS | {"id": "shared", "origins": ["https://shop.example"]})
    for path in ("/v1/tasks/shared/pause", "/v1/tasks/shared/overview", "/v1/check", "/v1/tasks"):
        asks = {"origin": "https://shop.example", "access-control-request-method": "POST"}
        asks |= {"access-control-request-headers": "authorization, content-type"}
        answer = live.server.call("OPTIONS", path, headers=asks)
        assert answer.status == 405
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert live.server.call("GET", "/v1/tasks/shared").json()["state"] == "open"


def test_wrong_tokens_use_up_the_limit_of_their_address(tmp_path: Path):
    server = Server(tmp_path, rate=0.1).start()
    try:
        wrong = [server.call("GET", "/v1/overview", token="guess").status for _ in range(20)]
        assert wrong[0] == 401
        assert wrong[-1] == 429
    finally:
        server.close()


# --- what it shows ---------------------------------------------------------------------------------------------------


def overview(server: Server, task: str) -> dict[str, Any]:
    answer = server.admin("GET", f"/v1/tasks/{task}/overview")
    assert answer.status == 200, answer.body
    return answer.json()


def test_reports_and_refusals_are_counted_by_the_hour_over_a_restart(tmp_path: Path):
    server = Server(tmp_path).start()
    try:
        contract = server.create(ARMS)
        first, second = ([ticket_report(contract, one) for one in server.tickets("arms", 12)] for _ in range(2))
        server.report("arms", *first)
        server.report("arms", *first[:5])  # duplicates are in the journal once
        server.report("arms", *(one | {"payload": "AAAA"} for one in second[:3]))
        assert server.stop() == 0
        server.start()
        server.report("arms", *second)
        server.report("arms", *(one | {"gate": 9} for one in second[:2]), second[0] | {"payload": "AAAA"})
        server.caught_up("arms")
        expected = {"accepted": 24, "bad-payload": 4, "bad-gate": 2}
        until(lambda: totals(overview(server, "arms")) == expected)
        found = overview(server, "arms")
        assert all(one["start"] % 3600 == 0 <= found["now"] - one["start"] for one in found["history"])
        assert (found["line"]["reports"], found["line"]["behind"]) == (24, 0)
    finally:
        server.close()


def totals(found: dict[str, Any]) -> dict[str, int]:
    added: dict[str, int] = {}
    for hour in found["history"]:
        for verdict, reports in hour["verdicts"].items():
            added[verdict] = added.get(verdict, 0) + reports
    return added


def test_an_overview_says_what_task_show_says_and_what_a_person_spends(live):
    server = live.server
    contract = server.create(ARMS | {"id": "seen", "title": "Seen <b>here</b>", "publish_every": 50})
    for _ in range(2):
        server.report("seen", *(ticket_report(contract, ticket) for ticket in server.tickets("seen", 50)))
        server.caught_up("seen")
    found, summary = overview(server, "seen"), server.summary("seen")
    assert found["summary"] == summary
    assert found["line"]["title"] == "Seen <b>here</b>"  # shown as text
    assert [one["name"] for one in found["costs"]] == ["one report", "in 7 days", "ever"]
    assert "an even guess is right in at most 88.1\N{NO-BREAK SPACE}% of cases" in found["costs"][0]["sentence"]
    assert {"promise", "budget", "digest"} <= {one["name"] for one in found["facts"]}
    for estimate, ends in zip(summary["estimates"], found["ranges"], strict=True):
        assert (ends is None) == (estimate["reward"] is None)
        assert ends is None or 0.0 <= ends["low"] <= ends["high"] <= 1.0
    assert found["learning"] in ("not yet", "partly")


def test_a_model_is_shown_by_its_weights(live):
    found = overview(live.server, "model")
    assert {one["name"] for one in found["coefficients"]} == {"a: (constant)", "a: age", "b: (constant)", "b: age"}
    assert found["ranges"] == []


# --- predictions -----------------------------------------------------------------------------------------------------


def test_a_prediction_is_kept_beside_the_contract_and_only_before_the_first_report(live):
    server = live.server
    contract = server.create(ARMS | {"id": "expected"})
    digest, path = server.call("GET", "/v1/tasks/expected").json()["digest"], "/v1/tasks/expected/prediction"
    assert overview(server, "expected")["prediction"] is None
    problem(server.call("POST", path, PREDICTION), 401, "unauthorized")
    assert server.admin("POST", path, PREDICTION).status == 200
    server.report("expected", ticket_report(contract, server.tickets("expected", 1)[0]))
    found = overview(server, "expected")
    assert found["prediction"] | PREDICTION == found["prediction"]
    assert found["expected"] == "predicted: about 400 reports until it has cost half as much as uniform play; now: 1"
    problem(server.admin("POST", path, PREDICTION | {"people_needed": 1}), 409, "too-late")
    assert overview(server, "expected")["prediction"] == found["prediction"]
    assert server.call("GET", "/v1/tasks/expected").json()["digest"] == digest


# --- a new task ------------------------------------------------------------------------------------------------------


def test_a_file_is_checked_without_creating_anything_and_then_created_as_it_was_read(live):
    server = live.server
    answer = server.admin("POST", "/v1/check", {"text": TASK})
    assert answer.status == 200, answer.body
    checked = answer.json()
    assert [one["name"] for one in checked["costs"]] == ["one report", "in 7 days", "ever"]
    problem(server.call("GET", "/v1/tasks/from-a-page"), 404, "not-found")
    assert server.admin("POST", "/v1/tasks", checked["file"]).status == 201
    assert server.contract("from-a-page").offers.actions == ("a", "b")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("learner", "lerner"), "unknown field of the file 'lerner'; choose one of: .*did you mean learner"),
        (("kl-ucb", "klucb"), "unknown learner 'klucb'.*did you mean kl-ucb"),
        (("2.0", "-2.0"), "epsilon"),
        (("2099", "2020"), "its last day, 2020-12-31, is over; write a later day for expires"),
        (("[privacy]", "[privacy"), "the file is not a task"),
    ],
)
def test_a_file_that_cannot_work_is_refused_in_the_words_of_the_command_line(live, change: tuple[str, str], says: str):
    answer = live.server.admin("POST", "/v1/check", {"text": TASK.replace(*change)})
    assert re.search(says, problem(answer, 422, "bad-task")["detail"])


def test_a_task_that_is_created_is_in_the_list_with_its_state(live):
    live.server.create(MODEL | {"id": "listed", "mode": "apprentice"})
    live.server.admin("POST", "/v1/tasks/listed/promote")
    live.server.admin("POST", "/v1/tasks/listed/pause")
    lines = live.server.admin("GET", "/v1/overview").json()["tasks"]
    (line,) = [line for line in lines if line["status"]["id"] == "listed"]
    assert (line["status"]["mode"], line["status"]["state"], line["alarms"]) == ("live", "paused", 0)
