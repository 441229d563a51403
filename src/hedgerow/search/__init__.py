"""Beam search and learning to search."""
