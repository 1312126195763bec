"""What is wrong with a page, found in a real browser."""

from node import BROWSER, run_node


def problems_of(*addresses: str) -> str:
    """A line for each problem, at 390 and 1280 px, light and dark; nothing if all is well."""
    return run_node(BROWSER / "chromium" / "page_checks.mjs", *addresses, may_end=(0, 1))
