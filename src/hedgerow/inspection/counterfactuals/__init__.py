"""Counterfactuals: the smallest change of one value of a sequence that flips the predicted label of a position."""
