"""A loop for many seeds of cheap learners on a GPU: a thread plays a seed's round in registers.

XLA makes many kernels of a round in `loop`, and what all seeds have computed goes to memory and back between them.
`evaluate` reads what JAX traced of one round of one seed and does each of its operations number by number, `rules` says
how, and `advance` plays rounds with it.
"""
