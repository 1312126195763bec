"""Learners that choose one of a few arms for everybody. They are told rewards in [0, 1]."""
