"""k-level randomised response: one byte for one number. The numbers and the proof are in `mechanism`."""
