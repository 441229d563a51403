"""Inference over label sequences: lattices, decoding and likelihoods."""
