"""Reading of files: `hedgerow.read`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hedgerow.formats.base import Choice
from hedgerow.formats.choosing import choose_format, hinting
from hedgerow.formats.corpus import Corpus, Layout
from hedgerow.formats.source import HEAD, PathLike, chosen_encoding, open_source


def read(
    path: PathLike,
    format: str | None = None,  # noqa: A002 - the word of the field
    *,
    label: str | int | bool | None = None,
    columns: Sequence[str] | None = None,
    sequence: str | Sequence[str] | None = None,
    encoding: str | None = None,
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
    encoding : str, optional
        The encoding of the text; by default that of `layout`, otherwise UTF-8.
    layout : Layout, optional
        The layout of another file, usually of training: format, names and label are those of that file, and the file
        may lack the label column. If another format is given, or `label`, `columns` or `sequence`, the layout only
        says which columns of a table hold numbers.

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
    source = open_source(path, chosen_encoding(encoding, layout))
    choice = Choice(label, columns, sequence).beside(layout, format)
    with hinting(source.text[:HEAD], source.name, format, choice.layout):
        corpus = choose_format(source.text[:HEAD], source.name, format, choice.layout).parse(source, choice).corpus
    return replace(corpus, layout=replace(corpus.layout, encoding=source.encoding))
