"""Potentials: scores of labels, computed from encoded sequences."""
