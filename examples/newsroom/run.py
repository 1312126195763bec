"""The newsroom on this computer: a learning server, its two tasks, and the front page. Ctrl-C ends it.

make newsroom
"""

import argparse
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec

from sottovoce.admin.remote import Remote
from sottovoce.catalogue.task_file import TaskFile, load_task_file
from sottovoce.cli.demo import running_server

HERE = Path(__file__).parent
DIST = HERE.parent.parent / "clients" / "browser" / "dist"
DEVICE = ("sottovoce.js", "delta.js", "features.js", "holdout.js", "learners.js")
"""The browser device, and the parts that it loads from beside its own file for tasks that need them."""
TASKS = (HERE / "lead.toml", HERE / "stories.toml")


class Page(SimpleHTTPRequestHandler):
    """The files of this folder, the browser device with its parts, and where the learning server is."""

    def __init__(self, *call: object, learning: str) -> None:
        self.learning = learning
        super().__init__(*call, directory=str(HERE))  # pyright: ignore[reportArgumentType]

    def do_GET(self) -> None:
        made = {f"/{name}": (DIST / name).read_bytes for name in DEVICE} | {"/config.js": self._config}
        if self.path in made:
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript")
            self.end_headers()
            self.wfile.write(made[self.path]())
        else:
            super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", f"default-src 'self'; connect-src 'self' {self.learning}")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def _config(self) -> bytes:
        return f'export const server = "{self.learning}";\n'.encode()

    def log_message(self, *_: object) -> None:
        """The terminal stays readable."""


@contextmanager
def newsroom(port: int, change: Callable[[TaskFile], TaskFile] = lambda task: task) -> Iterator[tuple[str, Remote]]:
    """(the page's address, the learning server); `change` is made to both task files."""
    with tempfile.TemporaryDirectory() as data, running_server(Path(data)) as (learning, remote):
        pages = ThreadingHTTPServer(("127.0.0.1", port), partial(Page, learning=learning))
        address = f"http://127.0.0.1:{pages.server_port}"
        for task in TASKS:
            remote.create(msgspec.structs.replace(change(load_task_file(task)), origins=(address,)))
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        try:
            yield address, remote
        finally:
            pages.shutdown()
            pages.server_close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000, help="of the page; 0 takes a free one")
    port = parser.parse_args().port
    if not (DIST / DEVICE[0]).exists():
        sys.exit("the browser device is not built; `make newsroom` builds it")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with newsroom(port) as (address, _):
        print(f"the front page: {address}\nCtrl-C ends it and its learning server", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
