"""Reading of files: `hedgerow.read`."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.formats.base import Choice, Format
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.registry import detect, find_format
from hedgerow.formats.source import PathLike, Source, open_source

HEAD = 1 << 16  # bytes from which a format is detected


def read(
    path: PathLike,
    format: str | None = None,  # noqa: A002 - the word of the field
    *,
    label: str | int | bool | None = None,
    columns: Sequence[str] | None = None,
    sequence: str | Sequence[str] | None = None,
    encoding: str = "utf-8",
    layout: Layout | None = None,
) -> Corpus:
    """Read sequences and labels from a file.

    Parameters
    ----------
    path : str, Path or file
        The file; "-" is standard input.
    format : str, optional
        The name of the format. By default it is detected from the content.
    label : str, int or False, optional
        The label column, by name or number; negative numbers count from the end. By default the last column, or
        `upos` in CoNLL-U. False reads a file without labels.
    columns : list of str, optional
        Names for the columns of a file that does not name them; by default column0, column1, ... In formats with
        named columns: the columns of X.
    sequence : str or list of str, optional
        For tables: the columns that say which sequence a row belongs to.
    encoding : str, default="utf-8"
        The encoding of the text.
    layout : Layout, optional
        The layout of another file, usually of training: format, names and label are those of that file, and the file
        may lack the label column. Instead of `format`, `label`, `columns` and `sequence`.

    Returns
    -------
    Corpus
        `X`, `y`, `sample_weight` and `layout`; `X, y = hedgerow.read(path)` takes the first two.

    Raises
    ------
    InputError
        If the content does not follow the rules of the format; the message names file and line.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import hedgerow as hr, pathlib
    >>> _ = pathlib.Path("train.txt").write_text("the DT B\\ncat NN I\\n\\nit PRP B\\n")
    >>> X, y = hr.read("train.txt", columns=["word", "pos", "chunk"])
    >>> X
    Sequences(2 sequences, 3 positions; 'word' categorical, 'pos' categorical)
    >>> [labels.tolist() for labels in y]
    [['B', 'I'], ['B']]
    """
    source = open_source(path, encoding)
    return choose_format(source, format, layout).parse(source, Choice(label, columns, sequence, layout)).corpus


def choose_format(source: Source, name: str | None, layout: Layout | None = None) -> Format:
    """The format of this name, otherwise that of the layout, otherwise the one that the content shows."""
    if name is None and layout is None:
        return find_format(detect(source.text[:HEAD], source.name))
    return find_format(layout.format if name is None and layout is not None else name)
