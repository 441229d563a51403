"""Readers of X and y, and the columns that store what was read."""
