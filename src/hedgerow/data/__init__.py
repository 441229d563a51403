"""Readers of X and y, and the columns they become."""
