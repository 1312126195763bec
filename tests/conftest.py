"""Fixtures that run a test over the whole registry, and one memory of what was compiled."""

import gc
import os
import tempfile

# Nearly all of a test's time is compiling, so tests compile without optimisations: the same numbers up to rounding, in
# half the time, and in one piece, because every piece of a program costs anew. `make soak` and the benchmarks run the
# code that users run.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true --xla_cpu_use_fusion_emitters=false "
    "--xla_cpu_parallel_codegen_split_count=1",
)
os.environ.setdefault("JAX_PLATFORMS", "cpu")  # also where a JAX for GPUs is installed; `make gpu` is for those
import jax
import pytest

from catalogue import PRESETS, Ready, ready

COMPILED = tempfile.TemporaryDirectory(prefix="sottovoce-compiled-")
"""Equal code is compiled once, whichever test asks; a folder for each process, because JAX writes it without locks."""
jax.config.update("jax_compilation_cache_dir", COMPILED.name)
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
os.environ["SOTTOVOCE_CACHE"] = COMPILED.name  # for the commands and servers that tests start
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"


def pytest_collection_finish() -> None:
    """Modules live to the end and tracing makes many small objects: look for garbage seldom, and not in modules."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(params=PRESETS, ids=lambda pair: "-".join(pair))
def each(request: pytest.FixtureRequest) -> Ready:
    """Every learner in every preset."""
    return ready(*request.param)
