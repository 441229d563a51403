"""Future features: patterns that may occur anywhere before or after a position."""
