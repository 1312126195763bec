"""`sottovoce inspect`: what has left a device, what will, and what it cost."""

from pathlib import Path
from typing import Annotated

import typer


def inspect(
    device: Annotated[Path, typer.Option(metavar="FOLDER", help="The folder of the device.")],
    json: Annotated[Path | None, typer.Option(help="Write the rows to this file.", dir_okay=False)] = None,
) -> None:
    """List the tasks that a device has joined, its ledger, and every report that waits in its outbox."""
    from sottovoce.client.inspection import main

    main(["--device", str(device), *(["--json", str(json)] if json else [])])
