"""The work of `hedgerow tag`: read blocks, predict, write each line with what was predicted for it."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from hedgerow import storage
from hedgerow.cli.corpus_folders import is_corpus
from hedgerow.cli.failures import say
from hedgerow.cli.loading import arguments_for, check_columns, check_items, layout_of, load_model
from hedgerow.cli.output import check_output
from hedgerow.cli.plain_text import escaped
from hedgerow.cli.probabilities import uncalibrated
from hedgerow.cli.reading import FileChoice, naming_flags
from hedgerow.cli.tag_writer import BlockWriter, TagOptions
from hedgerow.errors import InputError, first_few

if TYPE_CHECKING:
    from hedgerow.estimators import Estimator
    from hedgerow.formats import Block


def tag(model_path: str, path: str, options: TagOptions, *, output: str | None, force: bool) -> None:
    """Label a file or a stream."""
    options.check()
    if is_corpus(path):
        raise InputError(f"tag writes labels beside the lines of a file, but {path} is a corpus; name the file")
    if output is not None:
        check_output(output, force=force, inputs=[model_path, path])
    model = load_model(model_path)
    write = _writer(model, options)
    layout = layout_of(model, model_path)
    encode = _encoder(options.choice.encoding or (None if layout is None else layout.encoding))
    texts = (write(block) for block in _blocks(model, model_path, path, options.choice))
    if output is None:
        _send(texts, encode)
        return
    first = list(islice(texts, 1))  # errors of the input come before anything is written
    storage.write_parts(output, map(encode, chain(first, texts)))


def _blocks(model: Estimator, model_path: str, path: str, choice: FileChoice) -> Iterator[Block]:
    from hedgerow.formats import read_blocks

    arguments = arguments_for(model, model_path, choice)
    with naming_flags():
        for block in read_blocks(path, **arguments):
            if len(block.X):
                check_columns(model, path, (column.name for column in block.X.columns))
                check_items(model, path, block)
            yield block


def _encoder(encoding: str | None) -> Callable[[bytes], bytes]:
    """A function that returns UTF-8 text in another encoding, if there is one."""
    from hedgerow.formats.source import codec_name

    with naming_flags():
        codec = codec_name(encoding or "utf-8")
    if codec == "utf-8":
        return lambda text: text
    encoder = codecs.getincrementalencoder(codec)("backslashreplace")  # UTF-16 has one mark, not one for each block
    return lambda text: encoder.encode(text.decode("utf-8"))


def _send(texts: Iterable[bytes], encode: Callable[[bytes], bytes]) -> None:
    """Write each text to standard output at once; a terminal gets UTF-8 with control characters escaped."""
    stream = sys.stdout.buffer
    is_terminal = stream.isatty()
    for text in texts:
        stream.write(escaped(text.decode("utf-8", "backslashreplace")).encode() if is_terminal else encode(text))
        stream.flush()


def _check_spans(model: Estimator) -> None:
    """Raise InputError unless the labels of the model mark spans."""
    from hedgerow.estimators.dev_spans import fit_a_scheme

    labels = model.classes_.tolist()
    if not fit_a_scheme(labels):
        raise InputError(
            f"--spans needs labels that mark spans, such as B-NP, I-NP and O, but those of the model are "
            f"{first_few(labels)}; leave --spans out"
        )


def _writer(model: Estimator, options: TagOptions) -> Callable[[Block], bytes]:
    """A function that returns the text for a block."""
    if options.spans:
        _check_spans(model)
    if options.proba or options.nbest or options.spans:
        doubt = uncalibrated(model)
        if doubt is not None:
            say(f"warning: {doubt}")
    writer = BlockWriter(model, options)
    if options.as_json or options.spans:
        return writer.json_lines
    if options.nbest:
        return writer.with_nbest
    return writer.with_probabilities if options.proba else writer.with_labels
