"""Measurements against other packages; `make bench` runs them all."""
