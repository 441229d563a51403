"""Output codes: each label is a code word of bits, and a model is trained for each bit."""
