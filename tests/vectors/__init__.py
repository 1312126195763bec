"""Golden vectors as Python makes and answers them. The files are in tests/golden."""
