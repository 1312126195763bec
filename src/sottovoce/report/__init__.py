"""Pages and figures for people; no JAX."""
