"""The sphere codebook: fourteen bytes for a vector of any length. The numbers and the proof are in `mechanism`."""
