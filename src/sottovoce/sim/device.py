"""What simulations run on: the CPU or one GPU. It is chosen before JAX computes anything, because then it stays."""

from collections.abc import Callable
from importlib.metadata import entry_points

import jax

from sottovoce.protocol.errors import ConfigurationError, look_up

PLATFORMS = {"cpu": "cpu", "gpu": "cuda,cpu"}
"""What JAX calls the devices that can be asked for; where there are several, it computes on the first."""

SHARE = 0.8
"""Of the free memory that a batch may take; the rest is for libraries, which tell nobody how much they need."""


def use(device: str) -> None:
    """From now on this process computes on its CPU, or on the first of its GPUs. Not called: on what JAX finds.

    >>> use("cpu")
    >>> in_words()
    'cpu'
    """
    jax.config.update("jax_platforms", look_up("device", device, PLATFORMS))
    if device == "gpu":
        jax.config.update("jax_cuda_visible_devices", "0")  # JAX would take the memory of all cards
    try:
        found, reason = "cpu" if jax.default_backend() == "cpu" else "gpu", ""
    except (RuntimeError, AssertionError) as error:
        found, reason = "", f" ({error})"
    if found != device:
        raise ConfigurationError(_no_gpu(reason) if device == "gpu" else f"this process computes on {in_words()}")


def _no_gpu(reason: str) -> str:
    if not any("cuda" in plugin.name for plugin in entry_points(group="jax_plugins")):
        install = f"pip install 'jax[cuda13]=={jax.__version__}', or jax[cuda12] for an older driver"
        return f"the JAX that is installed here cannot use a GPU; {install}, or leave out --device gpu"
    return f"JAX finds no NVIDIA GPU here{reason}; `nvidia-smi` must list one, or leave out --device gpu"


def in_words() -> str:
    """The device that computes: the name of the card, or cpu."""
    return jax.devices()[0].device_kind


def room() -> int | None:
    """Bytes that are free on the device; None where JAX does not count them, as on a CPU."""
    found = jax.devices()[0].memory_stats()
    return found["bytes_limit"] - found["bytes_in_use"] if found else None


AT_ONCE = 262_144
"""Seeds (of all cases together) that a GPU plays at once: more do not fit into its cache, and each is slower."""


def seeds_that_fit(seeds: int, needed: Callable[[int], int], free: int) -> int:
    """How many seeds at once, all in equal parts; `needed` says how many bytes a number of seeds takes.

    >>> seeds_that_fit(1000, lambda seeds: 100 + 10 * seeds, free=4_000)
    250
    """
    wanted, most = seeds, SHARE * free
    while wanted > 1 and (bytes := needed(wanted)) > most:
        wanted = max(1, min(wanted - 1, int(wanted * most / bytes)))
    parts = -(-seeds // wanted)
    return -(-seeds // parts)
