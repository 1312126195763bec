"""Worlds in which choices for arms are made: mean rewards. None of them is among those the default is judged by."""

WORLDS: dict[str, list[float]] = {
    "two, wide": [0.6, 0.35],
    "two, close": [0.4, 0.37],
    "four near 1": [0.99, 0.93, 0.93, 0.85],
    "six near 0": [0.08, 0.06, 0.03, 0.02, 0.02, 0.01],
    "eight alike but one": [0.55, *[0.42] * 7],
    "twelve in steps": [0.8, 0.76, 0.7, 0.62, 0.55, 0.5, 0.44, 0.4, 0.33, 0.28, 0.2, 0.1],
    "twenty-five, mixed": [0.45, *[0.4] * 8, *[0.3] * 8, *[0.1] * 8],
    "forty, wide": [0.8, *[0.5] * 20, *[0.3] * 19],
}
