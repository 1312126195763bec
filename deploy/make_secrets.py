"""Make the secrets of compose.yaml in the folder `secrets`, once: what exists is left as it is.

The folder is its owner's alone. The files in it can be read by others, because the server runs as a user of its own in
its container and sees the files without the folder.
"""

import secrets
import sys
from pathlib import Path


def main(folder: Path) -> None:
    """Write what is missing."""
    folder.mkdir(mode=0o700, exist_ok=True)
    password = written(folder / "postgres-password", secrets.token_urlsafe(24))
    written(folder / "store", f"postgresql://sottovoce:{password}@postgres/sottovoce")
    written(folder / "admin-token", secrets.token_urlsafe(24))


def written(path: Path, text: str) -> str:
    """What the file has, or has from now on."""
    if not path.exists():
        path.write_text(text + "\n")
        path.chmod(0o444)
    return path.read_text().rstrip("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "secrets")
