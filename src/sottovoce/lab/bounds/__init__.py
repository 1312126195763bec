"""Measured regret beside the bounds of the theorems, and beside a lower bound."""
