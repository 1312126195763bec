"""Learners whose actions are the points of a convex region."""
