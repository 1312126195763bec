"""compose.yaml learns a report over TLS: in containers where an engine runs, else with its parts as processes."""

import contextlib
import json
import os
import runpy
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from proxying import Proxy, any_proxy

from manual import ROOT
from postgres import Postgres
from serving import ARMS, Held, committing, free_port, new_nonces, ticket_report, until
from sottovoce.protocol.contract import contract_from

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
SERVERS = ("server-1", "server-2")
make_secrets = runpy.run_path(str(DEPLOY / "make_secrets.py"))


# --- what the file says ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_keeps_what_it_needs_in_volumes_and_has_no_more_rights_than_it_needs(name: str):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["healthcheck"]["test"][0] == "CMD"
    assert service["deploy"]["resources"]["limits"].keys() == {"cpus", "memory"}
    assert service["restart"] == "unless-stopped"
    for volume in service["volumes"]:
        source = volume.partition(":")[0]
        assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file(), volume
    assert "ports" not in service or name == "proxy"


def test_secrets_are_files_and_stand_in_no_setting():
    for service in SERVICES.values():
        for variable, value in service["environment"].items():
            assert not any(word in variable for word in ("TOKEN", "PASSWORD", "STORE")) or variable.endswith("_FILE")
            if variable.endswith("_FILE"):
                assert value.removeprefix("/run/secrets/") in service["secrets"]
    assert all(set(service.get("secrets", ())) <= set(COMPOSE["secrets"]) for service in SERVICES.values())


def test_the_database_and_the_servers_cannot_be_reached_from_outside():
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    assert all(SERVICES[name]["networks"] == ["inside"] for name in (*SERVERS, "postgres"))


def test_the_image_has_a_user_of_its_own_no_secret_and_only_files_that_exist():
    lines = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines if line and not line.startswith("#")]
    copied = [word for line in words if line[0] == "COPY" and not line[1].startswith("--") for word in line[1:-1]]
    assert copied
    assert all((ROOT / word).exists() for word in copied)
    assert ["USER", "10001:10001"] in words
    assert not [line for line in lines if line.startswith(("ARG", "ENV")) and ("TOKEN" in line or "PASSWORD" in line)]
    (health,) = (line for line in lines if line.startswith("HEALTHCHECK"))
    checked = json.loads(health.partition("CMD ")[2])
    assert all(SERVICES[name]["healthcheck"]["test"][1:] == checked for name in SERVERS)
    (command,) = (line for line in lines if line.startswith("CMD"))
    assert SERVICES["server-1"]["command"][: -len(["--proxies", "1"])] == json.loads(command.removeprefix("CMD "))


def test_secrets_are_made_once_and_their_folder_is_its_owners_alone(tmp_path: Path):
    folder = tmp_path / "secrets"
    make_secrets["main"](folder)
    made = {path.name: path.read_text() for path in folder.iterdir()}
    assert made.keys() == set(COMPOSE["secrets"]) == {Path(one["file"]).name for one in COMPOSE["secrets"].values()}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert made["store"] == f"postgresql://sottovoce:{made['postgres-password'].strip()}@postgres/sottovoce\n"
    make_secrets["main"](folder)
    assert made == {path.name: path.read_text() for path in folder.iterdir()}


# --- as processes ----------------------------------------------------------------------------------------------------


class Started:
    """A server with the command, the settings and the health check of compose.yaml; only paths and ports are others."""

    def __init__(self, name: str, folder: Path, secrets: Path) -> None:
        self.port, service = free_port(), SERVICES[name]
        self._here = {"8080": str(self.port), "0.0.0.0": "127.0.0.1", "/var/lib/sottovoce": str(folder)}
        command = [self._here.get(word, word) for word in service["command"]]
        settings = {k: v.replace("/run/secrets", str(secrets)) for k, v in service["environment"].items()}
        self.log = folder.with_suffix(".log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sottovoce", *command], env=os.environ | settings, stderr=log
            )
        _, program, *check = service["healthcheck"]["test"]
        assert program == "python"
        self._check = [sys.executable, *(word.replace(":8080", f":{self.port}") for word in check)]

    def healthy(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        return subprocess.run(self._check, capture_output=True).returncode == 0


@contextlib.contextmanager
def processes(folder: Path) -> Iterator[tuple[Callable[[], Proxy], str]]:
    """Parts of the file in their order; how to reach them, and the admin token."""
    secrets, database = folder / "secrets", Postgres()
    with contextlib.ExitStack() as end:
        end.callback(database.close)
        secrets.mkdir(mode=0o700)
        (secrets / "store").write_text(database.start().new() + "\n")
        make_secrets["main"](secrets)
        servers = [Started(name, folder / name, secrets) for name in SERVERS]
        for server in servers:
            end.callback(server.process.wait, 30)
            end.callback(server.process.terminate)
        for server in servers:
            until(server.healthy, seconds=60, pause=0.2)
        proxy = end.enter_context(any_proxy()(folder, [server.port for server in servers]))
        yield lambda: proxy, (secrets / "admin-token").read_text().strip()


# --- in containers ---------------------------------------------------------------------------------------------------


def has_engine() -> bool:
    """Does `docker compose` run containers here?"""
    if shutil.which("docker") is None:
        return False
    asked = (["docker", "info"], ["docker", "compose", "version"])
    return all(subprocess.run(command, capture_output=True).returncode == 0 for command in asked)


@contextlib.contextmanager
def containers(folder: Path) -> Iterator[tuple[Callable[[], Proxy], str]]:
    """The file as it is, under another name and on other ports."""
    ports = {"SOTTOVOCE_HTTP_PORT": str(free_port()), "SOTTOVOCE_HTTPS_PORT": str(free_port())}
    copy = folder / "deploy"
    shutil.copytree(DEPLOY, copy)
    text = (copy / "compose.yaml").read_text().replace("context: ..", f"context: {ROOT}")
    (copy / "compose.yaml").write_text(text)
    make_secrets["main"](copy / "secrets")
    compose = ["docker", "compose", "--project-name", f"sottovoce-{os.getpid()}", "--file", str(copy / "compose.yaml")]
    root = folder / "root.crt"

    def reached() -> Proxy:
        inside = "proxy:/data/caddy/pki/authorities/local/root.crt"
        subprocess.run([*compose, "cp", inside, str(root)], check=True, env=os.environ | ports)
        return Proxy(int(ports["SOTTOVOCE_HTTPS_PORT"]), root, folder / "proxy.log")

    try:
        subprocess.run([*compose, "up", "--build", "--detach", "--wait"], check=True, env=os.environ | ports)
        yield reached, (copy / "secrets" / "admin-token").read_text().strip()
    finally:
        subprocess.run([*compose, "down", "--volumes"], env=os.environ | ports)


def test_the_parts_of_the_file_learn_a_report_over_tls(tmp_path: Path):
    with (containers if has_engine() else processes)(tmp_path) as (reached, token):
        proxy = reached()

        def ask(method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
            with contextlib.closing(proxy.connection()) as connection:
                sent = None if body is None else json.dumps(body)
                connection.request(method, path, sent, {"content-type": "application/json"} | headers)
                answer = connection.getresponse()
                return answer.status, answer.read()

        until(lambda: ask("GET", "/healthz")[0] == 200, seconds=20)
        assert ask("POST", "/v1/tasks", ARMS)[0] == 401
        assert ask("POST", "/v1/tasks", ARMS, authorization=f"Bearer {token}")[0] == 201
        until(lambda: ask("GET", "/v1/tasks/arms/contract")[0] == 200, seconds=20)
        nonces = new_nonces(1)
        until(lambda: ask("POST", "/v1/tasks/arms/offers", committing(nonces))[0] == 200, seconds=20)
        offers = json.loads(ask("POST", "/v1/tasks/arms/offers", committing(nonces))[1])["offers"]
        contract = contract_from(ask("GET", "/v1/tasks/arms/contract")[1])
        report = ticket_report(contract, Held(offers[0]["ticket"], nonces[0]))
        taken = [ask("POST", "/v1/tasks/arms/reports", {"reports": [report]}) for _ in range(2)]
        assert [json.loads(body)["verdicts"] for _, body in taken] == [["accepted"], ["duplicate"]]
        for _ in range(4):  # whichever server answers
            until(lambda: json.loads(ask("GET", "/v1/tasks/arms/summary")[1])["learned"] == 1, seconds=20)
        with pytest.raises(OSError, match="certificate verify failed"):
            urllib.request.urlopen(f"https://localhost:{proxy.port}/healthz")
