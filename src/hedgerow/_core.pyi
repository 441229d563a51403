"""
Kernels of hedgerow; private, see hedgerow.Sequences and hedgerow.lattice.
"""
