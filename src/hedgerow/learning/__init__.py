"""Learners: one training algorithm a file."""
