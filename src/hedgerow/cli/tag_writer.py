"""Text of blocks with what was predicted for them: labels, probabilities, n-best lists, spans; as lines or as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

from hedgerow.cli.probabilities import label_probabilities
from hedgerow.cli.reading import FileChoice
from hedgerow.data.columns import CategoricalColumn
from hedgerow.errors import InputError
from hedgerow.formats.label_text import printable

if TYPE_CHECKING:
    from hedgerow.estimators import Estimator
    from hedgerow.formats import Block

COLUMN_FORMATS = ("conll", "conllu", "crf++")  # the label stands behind the line


@dataclass(frozen=True, kw_only=True)
class TagOptions:
    """What to write for each sequence."""

    proba: bool
    nbest: int | None
    spans: bool
    constraints: str | None
    as_json: bool
    choice: FileChoice

    def check(self) -> None:
        """Raise InputError for options that do not go together."""
        if self.nbest is not None and self.nbest < 1:
            raise InputError(f"--nbest must be at least 1; it is {self.nbest}")
        used = [f"--{name}" for name in ("proba", "nbest", "spans") if getattr(self, name)]
        if len(used) > 1:
            raise InputError(f"{used[0]} and {used[1]} cannot be used together; choose one")

    def predicting(self) -> dict[str, Any]:
        return {} if self.constraints is None else {"constraints": self.constraints}


class BlockWriter:
    """Text of blocks, with predictions."""

    def __init__(self, model: Estimator, options: TagOptions) -> None:
        self._model, self._options = model, options
        self._keywords = options.predicting()
        self._n_lines = self._n_sequences = 0

    def with_labels(self, block: Block) -> bytes:
        if len(block.X) == 0:
            return block.text
        return block.with_labels(self._model.predict(block.X, **self._keywords))

    def with_probabilities(self, block: Block) -> bytes:
        if len(block.X) == 0:
            return block.text
        if block.layout.format == "crfsuite":
            raise InputError("--proba needs a place for probabilities, but crfsuite items have none; add --json")
        labels, chances = zip(*self._with_chances(block), strict=True)
        return block.with_labels(labels, chances)

    def with_nbest(self, block: Block) -> bytes:
        """The lines of each sequence once for each of its best label sequences, behind a comment with the rank."""
        assert self._options.nbest is not None
        if len(block.X) == 0:
            return block.text
        separator, (lines, rows) = block.layout.separator, self._lines(block)
        found, first, done = [], 0, 0
        for best in self._model.predict_nbest(block.X, self._options.nbest, **self._keywords):
            own = rows[first : first + len(best[0][1])] if best else []
            found += lines[done : own[0]]
            for rank, (log_probability, labels) in enumerate(best, 1):
                found.append(f"# best={rank} probability={exp(log_probability):.4g}")
                found += [
                    _append(lines[row], f"{separator}{printable(str(label))}")
                    for row, label in zip(own, labels.tolist(), strict=True)
                ]
                found += [""] if rank < len(best) else []
            first, done = first + len(own), own[-1] + 1
        return "\n".join([*found, *lines[done:]]).encode()

    def json_lines(self, block: Block) -> bytes:
        """One JSON object for each sequence."""
        texts = []
        first_position = 0
        for facts in self._facts(block):
            line = None if block.lines is None else int(block.lines[first_position])
            texts.append(json.dumps({"sequence": self._n_sequences, "line": line, **facts}) + "\n")
            first_position += facts["positions"]
            self._n_sequences += 1
        return "".join(texts).encode()

    def _facts(self, block: Block) -> Iterator[dict[str, Any]]:
        lengths = block.X.lengths.tolist()
        if not lengths:
            return
        if self._options.spans:
            yield from self._spans(block)
        elif self._options.nbest:
            for length, best in zip(
                lengths, self._model.predict_nbest(block.X, self._options.nbest, **self._keywords), strict=True
            ):
                listed = [{"probability": exp(p), "labels": labels.tolist()} for p, labels in best]
                yield {"positions": length, "best": listed}
        elif self._options.proba:
            for labels, chances in self._with_chances(block):
                yield {"positions": len(labels), "labels": labels, "probabilities": chances}
        else:
            for predicted in self._model.predict(block.X, **self._keywords):
                yield {"positions": len(predicted), "labels": predicted.tolist()}

    def _spans(self, block: Block) -> Iterator[dict[str, Any]]:
        """The spans of each sequence, with their words if the first column is text."""
        column, first = block.X.columns[0], 0
        for length, spans in zip(
            block.X.lengths.tolist(), self._model.predict_spans(block.X, **self._keywords), strict=True
        ):
            found = [span._asdict() for span in spans]
            if isinstance(column, CategoricalColumn):
                for span in found:
                    span["text"] = _text(column, first + span["start"], first + span["end"])
            yield {"positions": length, "spans": found}
            first += length

    def _with_chances(self, block: Block) -> Iterator[tuple[list[Any], list[float]]]:
        """(labels, their probabilities) of each sequence."""
        predicted = self._model.predict(block.X, **self._keywords)
        chances = label_probabilities(self._model, block.X, predicted, **self._keywords)
        for labels, p in zip(predicted, chances, strict=True):
            yield labels.tolist(), p.tolist()

    def _lines(self, block: Block) -> tuple[list[str], list[int]]:
        """(lines of the block, the line of each position among them)."""
        if block.lines is None or block.layout.format not in COLUMN_FORMATS:
            raise InputError(
                f"--nbest writes behind the lines of column files, but the format is {block.layout.format}; add --json"
            )
        lines = block.text.decode("utf-8").split("\n")
        rows = (block.lines - 1 - self._n_lines).tolist()
        self._n_lines += len(lines) - 1
        return lines, rows


def _text(column: CategoricalColumn, begin: int, end: int) -> str:
    """The values of some positions, with spaces between them; nothing for a missing one."""
    return " ".join(column.alphabet[code] if code >= 0 else "" for code in column.codes[begin:end].tolist())


def _append(line: str, ending: str) -> str:
    return f"{line[:-1]}{ending}\r" if line.endswith("\r") else line + ending
