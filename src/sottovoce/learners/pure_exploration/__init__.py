"""Learners that look for the best arm, or the best set of arms, and stop. They are told rewards in [0, 1]."""
