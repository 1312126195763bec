"""Both halves in one process, as fast as the hardware allows. Seeded randomness lives here and nowhere else."""
