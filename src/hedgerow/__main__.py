"""`python -m hedgerow`: the same as the command `hedgerow`."""

from hedgerow.cli import main

main()
