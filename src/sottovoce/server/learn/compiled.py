"""Compiled code costs time and memory: it is kept in a folder, and dropped from memory where there is too much of it.

Tasks of one shape share their code. Two hundred tasks of two hundred shapes would need two gigabytes of it at once.
"""

import gc
import hashlib
import os
import platform
from pathlib import Path

import jax

LARGEST, LEAST = 450 * 2**20, 150 * 2**20
"""Bytes of memory at which compiled code is dropped, and how much there must be of it."""


def keep_in(folder: Path) -> None:
    """Compiled code is found again after a restart; by the kind of machine, because it runs on no other.

    Not where the operator has named a folder for all commands.
    """
    if "SOTTOVOCE_CACHE" in os.environ:
        return
    machine = Path("/proc/cpuinfo")
    flags = [line for line in machine.read_text().splitlines() if line.startswith("flags")] if machine.exists() else []
    kind = hashlib.sha256(f"{platform.platform()} {jax.__version__} {flags[:1]}".encode()).hexdigest()[:16]
    jax.config.update("jax_compilation_cache_dir", str(folder / kind))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)


def stay_on_cpu() -> None:
    """A learner of live reports takes no GPU: it would keep most of the memory of one. JAX_PLATFORMS wins."""
    if "JAX_PLATFORMS" not in os.environ:
        jax.config.update("jax_platforms", "cpu")


class Room:
    """Drops compiled code whenever there is much of it."""

    def __init__(self) -> None:
        self._largest = LARGEST

    def make(self) -> None:
        if resident() > self._largest:
            jax.clear_caches()
            gc.collect()
            self._largest = max(LARGEST, resident() + LEAST)


def resident() -> int:
    """Bytes of memory in use; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0
