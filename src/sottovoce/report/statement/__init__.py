"""The statement for the privacy officer: what a task promises, computed from its contract alone."""
