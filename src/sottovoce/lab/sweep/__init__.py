"""A study in shards, on the cores of this machine or on a Ray cluster: the same results wherever and however often."""
