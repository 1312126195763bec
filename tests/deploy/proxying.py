"""The proxies of deploy/ as processes, on free ports; and a forwarder for machines that have none of them."""

import contextlib
import http.client
import http.server
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from manual import ROOT
from serving import free_port, until

PROXY = ROOT / "deploy" / "proxy"


class Proxy(NamedTuple):
    port: int
    trusted: Path
    """The certificate of whoever signed the proxy's."""
    log: Path

    def connection(self, source: str = "127.0.0.1") -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cafile=str(self.trusted))
        return http.client.HTTPSConnection(
            "localhost", self.port, timeout=30, context=context, source_address=(source, 0)
        )


@contextlib.contextmanager
def caddy(folder: Path, servers: Sequence[int]) -> Iterator[Proxy]:
    """With the very file of deploy/; its own certificate for localhost."""
    port, log = free_port(), folder / "proxy.log"
    settings = {
        "SOTTOVOCE_SITE": "localhost",
        "SOTTOVOCE_HTTP_PORT": str(free_port()),
        "SOTTOVOCE_HTTPS_PORT": str(port),
        "SOTTOVOCE_SERVERS": " ".join(f"127.0.0.1:{server}" for server in servers),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    command = ["caddy", "run", "--config", str(PROXY / "Caddyfile"), "--adapter", "caddyfile"]
    root = folder / "caddy" / "pki" / "authorities" / "local" / "root.crt"
    with _running(command, os.environ | settings, log):
        until(lambda: root.exists() and _greets(Proxy(port, root, log)), seconds=20)
        yield Proxy(port, root, log)


@contextlib.contextmanager
def nginx(folder: Path, servers: Sequence[int]) -> Iterator[Proxy]:
    """With the file of deploy/ but for ports, servers and folders."""
    port, log, (certificate, key) = free_port(), folder / "proxy.log", certificate_of(folder)
    text = (PROXY / "nginx.conf").read_text()
    for written, here in {
        "/run/nginx.pid": str(folder / "nginx.pid"),
        "listen 80;": f"listen 127.0.0.1:{free_port()};",
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/nginx/tls/fullchain.pem": str(certificate),
        "/etc/nginx/tls/privkey.pem": str(key),
        "server 127.0.0.1:8080 max_fails=2 fail_timeout=5s;": " ".join(f"server 127.0.0.1:{one};" for one in servers),
        "http {\n": "http {\n" + "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in TEMPORARY),
    }.items():
        assert text.count(written) == 1, written
        text = text.replace(written, here)
    (folder / "nginx.conf").write_text(text)
    command = ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"]
    with _running(command, os.environ, log):
        until(lambda: _greets(Proxy(port, certificate, log)), seconds=20)
        yield Proxy(port, certificate, log)


TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@contextlib.contextmanager
def forwarder(folder: Path, servers: Sequence[int]) -> Iterator[Proxy]:
    """Passes requests on to the servers in turn, with the address of whoever asks, and does nothing else."""
    port, (certificate, key) = free_port(), certificate_of(folder)
    turn = iter(range(10**9))

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", servers[next(turn) % len(servers)])) as to:
                headers["X-Forwarded-For"] = self.client_address[0]
                to.request(self.command, self.path, body, headers)
                answer = to.getresponse()
                said = answer.read()
            self.send_response(answer.status)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_GET = do_POST = pass_on

        def log_message(self, *ignored: Any) -> None: ...

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Proxy(port, certificate, folder / "proxy.log")
    finally:
        server.shutdown()
        server.server_close()


def certificate_of(folder: Path) -> tuple[Path, Path]:
    """For localhost, by itself, for a day."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, "-out", certificate, "-keyout", key], check=True, capture_output=True)
    return certificate, key


def any_proxy() -> Any:
    """Caddy where there is one: compose.yaml has it."""
    return caddy if shutil.which("caddy") else nginx if shutil.which("nginx") else forwarder


@contextlib.contextmanager
def _running(command: Sequence[str], environment: Any, log: Path) -> Iterator[None]:
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file)
    try:
        yield
        assert process.poll() is None, log.read_text()
    finally:
        process.terminate()
        process.wait(20)


def _greets(proxy: Proxy) -> bool:
    """Does it listen, and has it its certificate?"""
    try:
        with contextlib.closing(proxy.connection()) as connection:
            connection.connect()
    except OSError:
        return False
    return True
