"""The eight instances by which the default for arms is judged: mean rewards. No choice was made in any of them."""

WORLDS: dict[str, list[float]] = {
    "two, easy": [0.7, 0.4],
    "two, hard": [0.52, 0.5],
    "three near 1": [0.98, 0.95, 0.9],
    "five near 0": [0.1, 0.05, 0.04, 0.03, 0.01],
    "ten, one better": [0.6, *[0.5] * 9],
    "ten in steps": [0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45],
    "twenty near 1, hard": [0.97, *[0.95] * 9, *[0.9] * 10],
    "fifty, easy": [0.7, *[0.3] * 49],
}
