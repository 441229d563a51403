"""Encoded: sequences in the columns and alphabets of training."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.column_store import ColumnStore
from hedgerow.data.columns import Column
from hedgerow.errors import InputError

if TYPE_CHECKING:
    from hedgerow.encoding.corpus_view import CorpusView
    from hedgerow.encoding.encoder import Encoder
    from hedgerow.encoding.gold_labels import GoldLabels

NOTHING_UNSEEN: Mapping[str, int] = MappingProxyType({})


class Encoded(ColumnStore):
    """Sequences as numbers, in the columns and alphabets of an encoder; immutable.

    `hedgerow.encode` writes them to a folder, and `Encoded.open` opens it: the arrays are mapped from the files, so
    that nothing is loaded before it is used. `fit`, `predict` and `score` of every estimator take the object as X. A
    slice, such as `encoded[:1000]`, is a view of the same files. Indices copy what they choose into memory.

    It is pickled as the name of its folder and its range of sequences, so that another process maps the same files.

    Examples
    --------
    >>> import hedgerow as hr
    >>> sentences = [(["the", "cat"], ["D", "N"]), (["a", "dog"], ["D", "N"])]
    >>> encoded = hr.encode(sentences, "animals.corpus")
    >>> encoded
    Encoded(2 sequences, 4 positions; 'symbol' categorical)
    >>> hr.HMM().fit(encoded, encoded.y).score(encoded, encoded.y)
    1.0
    """

    __slots__ = ("unseen", "view")

    unseen: Mapping[str, int]  # by column: how many values were left out because training never saw them
    view: CorpusView | None  # the encoder, the labels and the files; None for sequences of one prediction or fit

    @classmethod
    def trusted(
        cls,
        starts: NDArray[np.int64],
        columns: tuple[Column, ...],
        unseen: Mapping[str, int] = NOTHING_UNSEEN,
        view: CorpusView | None = None,
    ) -> Self:
        """Build from parts that are known to be consistent, without checks.

        Parameters
        ----------
        starts, columns
            As in `of_columns`.
        unseen : dict, optional
            By column how many values were left out because the encoder does not have them.
        view : optional
            The encoder, the labels and the files of a corpus.

        Returns
        -------
        Encoded
            The arrays are not copied.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X = hr.Sequences(["cat", "at"])
        >>> hr.Encoded.trusted(X.starts, X.columns)
        Encoded(2 sequences, 5 positions; 'symbol' categorical)
        """
        encoded = super().trusted(starts, columns)
        encoded.unseen = MappingProxyType(dict(unseen))
        encoded.view = view
        return encoded

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = False) -> Encoded:
        """Open a folder that `hedgerow.encode` wrote.

        Parameters
        ----------
        path : str or path
            The folder.
        verify : bool, default=False
            Whether to read all files and compare their checksums. Versions and sizes are always checked.

        Returns
        -------
        Encoded
            The sequences of the folder, mapped from its files.

        Raises
        ------
        CorpusError
            If a file is absent, cut short, damaged, or written by a newer version; the message names the file.
        FileNotFoundError
            If there is no such folder.

        Examples
        --------
        >>> import hedgerow as hr
        >>> _ = hr.encode([(["the", "cat"], ["D", "N"]), (["a"], ["D"])], "opened.corpus")
        >>> hr.Encoded.open("opened.corpus", verify=True).n_positions
        3
        """
        from hedgerow.encoding.corpus_folder import CorpusFolder

        folder = CorpusFolder.open(path)
        if verify:
            folder.verify()
        return folder.encoded()

    def _corpus(self) -> CorpusView:
        if self.view is None:
            raise InputError(
                "these sequences were encoded in memory and have neither labels nor files; use hedgerow.encode, which "
                "writes them to a folder"
            )
        return self.view

    @property
    def encoder(self) -> Encoder:
        """The encoder: columns, alphabets, derived columns."""
        return self._corpus().encoder

    @property
    def y(self) -> GoldLabels | None:
        """The gold labels, which `fit` and `score` take as they are; None if the source had none."""
        return self._corpus().gold

    @property
    def sample_weight(self) -> NDArray[np.float64] | None:
        """The weight of each sequence; None if the source had no weights."""
        return self._corpus().weights

    def shards(self) -> list[Encoded]:
        """List the parts in which the sequences were written.

        Returns
        -------
        list of Encoded
            Ranges of the sequences, in their order; nothing is copied.

        Raises
        ------
        InputError
            If the sequences do not come from a folder.

        Examples
        --------
        >>> import hedgerow as hr
        >>> sentences = [(["the", "cat"], ["D", "N"]), (["a", "dog"], ["D", "N"])]
        >>> encoded = hr.encode(sentences, "sharded.corpus", shard_positions=2)
        >>> [len(shard) for shard in encoded.shards()]
        [1, 1]
        """
        return [self[first:last] for first, last in self._corpus().shard_ranges()]

    def with_columns(self, added: Iterable[Column]) -> Self:
        """Add columns to the sequences.

        Parameters
        ----------
        added : list of Column
            Columns with a value for every position.

        Returns
        -------
        Encoded
            The same sequences with the columns after their own; nothing is copied.

        Examples
        --------
        >>> import hedgerow as hr
        >>> X, more = hr.Sequences([("a",)] for _ in "ab"), hr.Sequences([["b"], ["c"]])
        >>> hr.Encoded.trusted(X.starts, X.columns).with_columns(more.columns)
        Encoded(2 sequences, 2 positions; 'x0' categorical, 'symbol' categorical)
        """
        return self.trusted(self.starts, (*self.columns, *added), self.unseen)

    def _range(self, first: int, last: int) -> Self:
        chosen = super()._range(first, last)
        chosen.view = None if self.view is None else self.view.range(first, last, chosen.starts)
        return chosen

    def _take(self, index: NDArray[Any]) -> Self:
        chosen = super()._take(index)
        if self.view is not None:
            sequences = np.arange(len(self))[index if index.size else index.astype(np.int64)]
            chosen.view = self.view.taken(sequences, self.starts, chosen.starts)
        return chosen

    def __reduce__(self) -> tuple[Any, ...]:
        if self.view is not None and self.view.folder is not None:
            from hedgerow.encoding.corpus_folder import open_range

            return open_range, self.view.place
        return type(self).trusted, (self.starts, self.columns, dict(self.unseen), self.view)
