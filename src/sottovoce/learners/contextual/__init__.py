"""Learners that publish a model; every device chooses by itself. They speak of rewards."""
