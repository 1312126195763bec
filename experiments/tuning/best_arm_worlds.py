"""Worlds in which choices for `top-two` are made: mean rewards of arms. None of them is among those it is judged by."""

WORLDS: dict[str, list[float]] = {
    "three, far apart": [0.8, 0.5, 0.4],
    "a close second": [0.7, 0.62, 0.3, 0.3, 0.2, 0.1],
    "seven alike": [0.6, *[0.45] * 7],
    "low rewards": [0.3, 0.2, 0.15, 0.1, 0.05, 0.02],
}
