"""Answers about label sequences: the lattice."""
