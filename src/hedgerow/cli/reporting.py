"""The work of `hedgerow report`: read a model and a file, and write the page."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hedgerow as hr
from hedgerow.cli.corpus_folders import is_corpus, open_labelled, refuse_file_flags
from hedgerow.cli.evaluation import as_labels, check_labels
from hedgerow.cli.failures import say
from hedgerow.cli.loading import arguments_for, check_columns, check_items, load_model
from hedgerow.cli.output import check_output, print_json
from hedgerow.cli.plain_text import size
from hedgerow.cli.reading import FileChoice, name_of, naming_flags
from hedgerow.errors import InputError
from hedgerow.utilities import counted

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
    as_json: bool


def write_report(model_path: str, path: str, choice: FileChoice, page: Page) -> None:
    """Write the page; nothing is written if the input cannot be used."""
    if page.output == "-":
        raise InputError("report writes a file, but --output is -; name a file, such as report.html")
    if page.title is not None and not page.title.strip():
        raise InputError("--title must not be empty; give a heading, or leave --title out")
    model = load_model(model_path)
    other = None if page.compare is None else load_model(page.compare)
    check_output(page.output, force=page.force, inputs=[model_path, path, page.compare])
    corpus = _read(model, model_path, path, choice)
    if other is not None and page.compare is not None:
        if corpus.y is None:
            raise InputError(f"--compare needs labels, but {name_of(path)} has none; add the right labels")
        _check_columns_of_both(corpus, model, model_path, other, page.compare)
    gold = None
    if corpus.y is not None:
        gold = [as_labels(labels, model.classes_) for labels in corpus.y]
        check_labels(path, gold, model.classes_)
    X: Any = corpus.X
    title = _heading(model_path, path, page.compare) if page.title is None else page.title
    written = hr.report(model, X, gold, page.output, compare=other, force=page.force, title=title)
    n_bytes = written.stat().st_size
    if not page.quiet:
        say(f"{written}: {counted(len(corpus.X), 'sequence')}, {size(n_bytes)}")
    if page.as_json:
        print_json({"output": str(written), "sequences": len(corpus.X), "bytes": n_bytes})


def _heading(model: str, data: str, other: str | None) -> str:
    """The names of the files, so that the page says what it is about."""
    compared = "" if other is None else f", compared with {Path(other).name}"
    return f"{Path(model).name} on {'standard input' if data == '-' else Path(data).name}{compared}"


def _check_columns_of_both(corpus: Corpus, model: Estimator, path: str, other: Estimator, other_path: str) -> None:
    """Raise InputError unless the data, which were read for one model, have the columns of the other one too."""
    own, needed = model.feature_names_in_.tolist(), other.feature_names_in_.tolist()
    if not {column.name for column in corpus.X.columns}.issuperset(needed):
        raise InputError(
            f"--compare needs two models that read columns of the same names, but {name_of(path)} reads "
            f"{', '.join(own)}, and {name_of(other_path)} reads {', '.join(needed)}; train both with the same --columns"
        )


def _read(model: Estimator, model_path: str, path: str, choice: FileChoice) -> Corpus:
    if is_corpus(path):
        refuse_file_flags(path, **vars(choice))
        return open_labelled(path)
    with naming_flags():
        corpus = hr.read(path, **arguments_for(model, model_path, choice))
    check_columns(model, path, (column.name for column in corpus.X.columns))
    check_items(model, path, corpus)
    return corpus
