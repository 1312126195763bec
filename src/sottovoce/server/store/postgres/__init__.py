"""The store for many processes on many hosts: PostgreSQL, of which `schema` says the tables."""
