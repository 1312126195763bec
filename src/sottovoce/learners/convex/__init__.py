"""Learners whose actions are the points of a convex region. They are told rewards, or slopes of rewards."""
