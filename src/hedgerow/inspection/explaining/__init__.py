"""Explanations: the log-odds of a label, split into what the attributes of its position and the other labels add."""
