"""The work of `hedgerow report`: read a model and a file, and write the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import hedgerow as hr
from hedgerow.cli.corpus_folders import is_corpus, open_labelled, refuse_file_flags
from hedgerow.cli.evaluation import as_labels, check_labels
from hedgerow.cli.failures import say
from hedgerow.cli.loading import arguments_for, check_columns, check_items, load_model
from hedgerow.cli.output import check_output
from hedgerow.cli.plain_text import many
from hedgerow.cli.reading import FileChoice, name_of, naming_flags
from hedgerow.errors import InputError

if TYPE_CHECKING:
    from hedgerow.estimators import Estimator
    from hedgerow.formats import Corpus


@dataclass(frozen=True, kw_only=True)
class Page:
    """Where the page goes, and what it shows besides the model."""

    output: str
    compare: str | None
    title: str | None
    force: bool
    quiet: bool


def write_report(model_path: str, path: str, choice: FileChoice, page: Page) -> None:
    """Write the page; nothing is written if the input cannot be used."""
    if page.output == "-":
        raise InputError("report writes a file, but --output is -; name a file, such as report.html")
    if page.title is not None and not page.title.strip():
        raise InputError("--title must not be empty; give a heading, or leave --title out")
    check_output(page.output, force=page.force, inputs=[model_path, path, page.compare])
    model = load_model(model_path)
    other = None if page.compare is None else load_model(page.compare)
    corpus = _read(model, model_path, path, choice)
    if other is not None and page.compare is not None:
        if corpus.y is None:
            raise InputError(f"--compare needs labels, but {name_of(path)} has none; add the right labels")
        check_columns(other, path, (column.name for column in corpus.X.columns), name_of(page.compare))
    gold = None
    if corpus.y is not None:
        gold = [as_labels(labels, model.classes_) for labels in corpus.y]
        check_labels(path, gold, model.classes_)
    X: Any = corpus.X
    written = hr.report(model, X, gold, page.output, compare=other, force=page.force, title=page.title)
    if not page.quiet:
        size = f"{written.stat().st_size / 1e6:.1f} MB"
        say(f"{written}: {many(len(corpus.X), 'sequence')}, {size}")


def _read(model: Estimator, model_path: str, path: str, choice: FileChoice) -> Corpus:
    if is_corpus(path):
        refuse_file_flags(path, **vars(choice))
        return open_labelled(path)
    with naming_flags():
        corpus = hr.read(path, **arguments_for(model, model_path, choice))
    check_columns(model, path, (column.name for column in corpus.X.columns))
    check_items(model, path, corpus)
    return corpus
