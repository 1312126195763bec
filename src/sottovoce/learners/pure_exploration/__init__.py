"""Learners that look for the best arm and stop when they are sure. They speak of losses in [0, 1]."""
