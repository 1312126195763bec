"""Simulated people with real devices against a real server, over HTTP."""
