"""Learners that look for the best arm, or the best set of arms, and stop. They speak of losses in [0, 1]."""
