"""Parquet tables, read and written by polars, pandas or pyarrow, whichever is installed."""

from __future__ import annotations

import importlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from hedgerow.data.columns import BagColumn
from hedgerow.data.frames import from_frame, to_frame
from hedgerow.errors import InputError
from hedgerow.formats.base import Choice, Format, Parsed, Probabilities
from hedgerow.formats.content import Content
from hedgerow.formats.corpus import Corpus
from hedgerow.formats.delimited import PREDICTION, PROBABILITY, SEQUENCE, table_layout
from hedgerow.formats.source import Source

_ONE = "_one_sequence"


class ParquetFormat(Format):
    """A table with typed columns."""

    name = "parquet"

    def parse(self, source: Source, choice: Choice, *, first_line: int = 1, partial: bool = False) -> Parsed:
        del first_line, partial  # a table is read at once
        frame = _read(source)
        layout = table_layout(self, source.name, choice, list(getattr(frame, "column_names", frame.columns)))
        sequence = list(layout.sequence)
        kept = [*sequence, *layout.attributes, *([] if layout.label is None else [layout.label])]
        table = _narwhals(frame).select(kept)
        if not sequence:
            import narwhals

            table, sequence = table.with_columns(narwhals.lit(0).alias(_ONE)), [_ONE]
        try:
            X, y = from_frame(table.to_native(), sequence=sequence, label=layout.label)
        except InputError as error:
            raise InputError(f"{source.name}: {error}") from None
        assert X.rows is not None
        ordered = table[X.rows.tolist()]
        layout = replace(layout, numeric=tuple(column.name for column in X.columns if column.kind == "numeric"))
        first = table[X.rows[X.starts[:-1]].tolist()]
        ids = {name: first[name].to_list() for name in layout.sequence}
        exact = {name: ordered[name].to_list() for name in layout.numeric if choice.exact}
        return Parsed(Corpus(X, y, None, layout, X.rows + 1, ids), 0, frame, exact)

    def with_labels(
        self, text: bytes, parsed: Parsed, labels: Sequence[Any], probabilities: Probabilities = None
    ) -> bytes:
        """The table with the labels as column "prediction", and the column "probability"."""
        del text
        frame = to_frame(parsed.places, labels, parsed.corpus.X, name=PREDICTION)
        if probabilities is not None:
            frame = to_frame(frame, probabilities, parsed.corpus.X, name=PROBABILITY)
        return encode_frame(frame)

    def encode(self, content: Content) -> Iterator[bytes]:
        """A row for each position; the first column is the number of the sequence."""
        content.refuse_weights(self.name)
        columns = content.sequence_columns(SEQUENCE)
        for column in content.X.columns:
            if column.name in columns or (isinstance(column, BagColumn) and column.weights is not None):
                raise InputError(
                    f"parquet cannot hold column {column.name!r}: it has weights, or the name of sequences"
                )
            columns[column.name] = content.values(column, None)
        labels = content.labels()
        if labels is not None:
            kept = None if content.layout is None else content.layout.label
            columns[content.label_name(kept or "label", columns)] = labels
        columns = content.in_order(columns)
        module = library("the file")
        frame = getattr(module, "DataFrame", None)
        yield encode_frame(importlib.import_module("pyarrow").table(columns) if frame is None else frame(columns))


def _narwhals(frame: Any) -> Any:
    try:
        import narwhals
    except ImportError as error:
        raise InputError("Parquet files need narwhals; pip install hedgerow[frames]") from error
    return narwhals.from_native(frame, eager_only=True)


def library(name: str) -> Any:
    """The first library that can read Parquet; raises InputError, about the file `name`, if none is installed."""
    for module, needs in (("polars", ()), ("pyarrow.parquet", ()), ("pandas", ("fastparquet",))):
        try:
            for needed in needs:
                importlib.import_module(needed)
            return importlib.import_module(module)
        except ImportError:
            continue
    raise InputError(f"{name} is a Parquet file, which needs polars or pyarrow; pip install polars hedgerow[frames]")


def _read(source: Source) -> Any:
    module = library(source.name)
    read = getattr(module, "read_parquet", None) or module.read_table
    try:
        return read(io.BytesIO(source.text))
    except Exception as error:  # each library has errors of its own
        raise InputError(f"{source.name} must be a Parquet file, but it cannot be read ({error})") from error


def encode_frame(frame: Any) -> bytes:
    """A frame of polars, pandas or pyarrow as Parquet."""
    file = io.BytesIO()
    if hasattr(frame, "write_parquet"):
        frame.write_parquet(file)
    elif hasattr(frame, "to_parquet"):
        frame.to_parquet(file)
    else:
        importlib.import_module("pyarrow.parquet").write_table(frame, file)
    return file.getvalue()


FORMAT = ParquetFormat()
