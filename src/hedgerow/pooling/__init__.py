"""Opinion pools: several models of the same labels, each over a subset of the attributes."""
