"""The work of `hedgerow tune`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import hedgerow as hr
from hedgerow.cli.corpus_folders import is_corpus, open_labelled, refuse_file_flags
from hedgerow.cli.documents import note_documents
from hedgerow.cli.failures import INTERRUPTED, say
from hedgerow.cli.models import estimator_class
from hedgerow.cli.output import check_output, print_json
from hedgerow.cli.plain_text import escaped, size
from hedgerow.cli.reading import FileChoice, describe, naming_flags, read_labelled
from hedgerow.cli.suggestions import did_you_mean
from hedgerow.errors import InputError
from hedgerow.formats import Corpus
from hedgerow.tuning.budget import seconds_of
from hedgerow.tuning.scoring import NAMES as SCORES


@dataclass(frozen=True, kw_only=True)
class RaceOptions:
    """The options of the command."""

    budget: str
    models: str | None
    scoring: str | None
    random_state: int
    n_jobs: int
    output: str | None
    force: bool
    quiet: bool
    as_json: bool

    @property
    def estimators(self) -> Any:
        """The estimators to race, as `hedgerow.tune` takes them."""
        if self.models is None:
            return "auto"
        return [estimator_class(name.strip()).__name__ for name in self.models.split(",")]


def race(path: str, choice: FileChoice, options: RaceOptions) -> int:
    """Race settings on a file, print the table, and write the winner."""
    seconds_of(options.budget)  # before the file is read
    estimators = options.estimators
    if options.scoring not in (None, *SCORES):
        meant = did_you_mean(str(options.scoring), SCORES, otherwise="choose one")
        raise InputError(f"--scoring must be one of {', '.join(SCORES)}; it is {options.scoring!r}; {meant}")
    if options.output is not None:
        check_output(options.output, force=options.force, inputs=[path])
    corpus = _labelled(path, choice)
    if not options.quiet:
        describe(path, corpus)
        if not is_corpus(path):
            note_documents(path)
    with naming_flags():
        result = hr.tune(
            corpus.X,
            corpus.y,  # type: ignore[arg-type]
            estimators=estimators,
            scoring=options.scoring,
            budget=options.budget,
            random_state=options.random_state,
            n_jobs=options.n_jobs,
            verbose=int(not options.quiet),
        )
    if options.output is not None:
        replace(result.model.model_, layout=corpus.layout.to_json()).save(options.output)
    if options.as_json:
        print_json(_facts(result, options))
    else:
        print(escaped(str(result)))
    if options.output is not None and not options.quiet:
        say(f"{options.output} has {size(Path(options.output).stat().st_size)}")
    return INTERRUPTED if result.stopped == "interrupted" else 0


def _labelled(path: str, choice: FileChoice) -> Corpus:
    if not is_corpus(path):
        return read_labelled(path, choice)
    refuse_file_flags(path, **vars(choice))
    return open_labelled(path)


def _facts(result: hr.TuningResult, options: RaceOptions) -> dict[str, Any]:
    return {
        "best": repr(result.model),
        "scoring": result.scoring,
        "best_score": result.best_score,
        "standard_error": result.standard_error,
        "stopped": result.stopped,
        "output": options.output,
        "rows": result.rows,
        "notes": list(result.notes),
    }
