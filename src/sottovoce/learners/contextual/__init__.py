"""Learners that publish a model; every device chooses by itself."""
