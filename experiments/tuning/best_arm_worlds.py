"""Worlds in which choices for `top-two` are made: mean rewards of arms. None of them is among those it is judged by."""

WORLDS: dict[str, list[float]] = {
    "three, far apart": [0.8, 0.5, 0.4],
    "a close second": [0.7, 0.62, 0.3, 0.3, 0.2, 0.1],
    "seven alike": [0.6, *[0.45] * 7],
    "low rewards": [0.3, 0.2, 0.15, 0.1, 0.05, 0.02],
    "twelve in equal steps": [0.85 - 0.05 * step for step in range(12)],
    "three on top of eight": [0.55, 0.5, 0.5, *[0.3] * 5],
    "two, hardly apart": [0.52, 0.5],
    "two, far apart": [0.7, 0.1],
    "six, ever wider": [0.4, 0.37, 0.33, 0.28, 0.22, 0.15],
    "nine, ever wider": [0.75 - 0.0075 * step * (step + 1) for step in range(1, 10)],
}
