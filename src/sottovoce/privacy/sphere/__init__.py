"""The sphere codebook: one byte for a vector of any length. The numbers and the proof are in `mechanism`."""
