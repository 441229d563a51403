"""Encoded corpora on disk: `encode` streams files or iterables of any size into a folder of mapped arrays."""

from hedgerow.corpora.entry import encode as encode
