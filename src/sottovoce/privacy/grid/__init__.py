"""Discrete Gaussian and Laplace noise, eight bytes a number. The numbers and the proofs are in `mechanism`."""
