"""Table 1 of the paper, measured: every row's exponents in the number of rounds and in epsilon."""
