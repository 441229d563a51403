"""Conversion of files: read, change the scheme of the labels, write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hedgerow.data.columns import CategoricalColumn
from hedgerow.errors import InputError
from hedgerow.formats import conllu
from hedgerow.formats.base import Choice, label_name
from hedgerow.formats.choosing import choose_format
from hedgerow.formats.corpus import Corpus
from hedgerow.formats.label_schemes import convert_labels
from hedgerow.formats.source import HEAD, PathLike, Source, chosen_encoding, open_source
from hedgerow.formats.writing import content_of, write_content


def convert(
    path: PathLike,
    output: PathLike,
    format: str | None = None,  # noqa: A002 - the word of the field
    *,
    to: str | None = None,
    scheme: str | None = None,
    to_scheme: str | None = None,
    label: str | int | bool | None = None,
    columns: Sequence[str] | None = None,
    sequence: str | Sequence[str] | None = None,
    encoding: str | None = None,
    overwrite: bool = False,
) -> Corpus:
    """Convert a file to another format, and its labels to another scheme.

    Values and ids of sequences are copied as the file has them; weights in bags are 32-bit numbers.

    Parameters
    ----------
    path : str, Path or file
        The file to read; "-" is standard input.
    output : str, Path or file
        The file to write, as UTF-8; "-" is standard output.
    format : str, optional
        The format of `path`; by default it is detected.
    to : str, optional
        The format of `output`; by default the one that its name says, then that of `path`.
    scheme : str, optional
        The scheme of the labels in `path`; by default it is detected if `to_scheme` is given.
    to_scheme : str, optional
        The scheme of the labels in `output`: "IOB1", "IOB2", "IOE1", "IOE2", "IOBES" or "BILOU".
    label, columns, sequence, encoding
        As in `hedgerow.read`. Of a CoNLL-U file all columns are converted, except those in which every value is `_`.
    overwrite : bool, default=False
        Whether an existing file is replaced.

    Returns
    -------
    Corpus
        What was written.

    Raises
    ------
    InputError
        If a file or a label breaks a rule, or the format cannot hold the values.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> import hedgerow as hr, pathlib
    >>> _ = pathlib.Path("iob2.txt").write_text("the B-NP\\ncat I-NP\\nsat B-VP\\n")
    >>> corpus = hr.formats.convert("iob2.txt", "bilou.jsonl", to_scheme="BILOU", columns=["word", "chunk"])
    >>> print(pathlib.Path("bilou.jsonl").read_text().strip())
    {"word": ["the", "cat", "sat"], "labels": ["B-NP", "L-NP", "U-VP"]}
    """
    source = open_source(path, chosen_encoding(encoding))
    chosen = choose_format(source.text[:HEAD], source.name, format, None)
    if chosen is conllu.FORMAT and columns is None:
        columns = _filled_columns(source, label)
    parsed = chosen.parse(source, Choice(label, columns, sequence, exact=True))
    corpus = parsed.corpus
    if to_scheme is not None:
        if corpus.y is None:
            raise InputError(f"labels can be converted to {to_scheme} only where there are labels, but there are none")
        corpus = replace(corpus, y=convert_labels(corpus.y, to_scheme, scheme))
    elif scheme is not None:
        raise InputError("`scheme` is the scheme of labels to be converted; give `to_scheme` too")
    write_content(output, replace(content_of(corpus), exact=parsed.exact), to, overwrite=overwrite)
    return corpus


def _filled_columns(source: Source, label: str | int | bool | None) -> list[str]:
    """The columns of a CoNLL-U file that hold something, without the label and the ids, which are counted."""
    label = "upos" if label is None else label_name(source.name, conllu.NAMES, label)
    others = [name for name in conllu.NAMES[1:] if name != label]
    X = conllu.FORMAT.parse(source, Choice(False, others)).corpus.X
    return [column.name for column in X.columns if isinstance(column, CategoricalColumn) and (column.codes >= 0).any()]
