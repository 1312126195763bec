"""Learners that choose one of a few arms for everybody. They speak of losses in [0, 1]."""
