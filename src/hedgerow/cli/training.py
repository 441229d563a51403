"""The work of `hedgerow train`: read, choose features, fit, save, score."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.config import PARAMETERS, read_config
from hedgerow.cli.corpus_folders import is_corpus, open_labelled, refuse_file_flags
from hedgerow.cli.corpus_folders import scores as score_corpus
from hedgerow.cli.data_places import naming_lines
from hedgerow.cli.documents import note_documents
from hedgerow.cli.failures import INTERRUPTED, say
from hedgerow.cli.models import AUTO, DEFAULT, estimator_class
from hedgerow.cli.output import check_output, print_json
from hedgerow.cli.parameter_flags import configured, from_file
from hedgerow.cli.plain_text import size
from hedgerow.cli.reading import FileChoice, describe, naming_flags, read_labelled
from hedgerow.cli.template_choice import features_in_words, naming_template, reads_through_window, template_of
from hedgerow.errors import InputError
from hedgerow.utilities import duration

if TYPE_CHECKING:
    from hedgerow.estimators import Estimator
    from hedgerow.formats import Corpus

BUDGET = "10m"


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of the command, without the parameters of the model; None for those that were not used."""

    train_file: str
    output: str | None
    model: str | None
    dev: str | None
    template: str | None
    label: str | None
    columns: str | None
    sequence: str | None
    file_format: str | None
    encoding: str | None
    config: str | None
    budget: str | None = None
    force: bool
    quiet: bool
    as_json: bool
    help_all: bool

    def with_config(self) -> tuple[TrainOptions, dict[str, Any]]:
        """(options, parameters of the file of --config); options that were used on the command line win."""
        if self.config is None:
            return self, {}
        settings = read_config(self.config)
        parameters = settings.pop(PARAMETERS, {})
        if "format" in settings:
            settings["file_format"] = settings.pop("format")
        if "budget" in settings and (self.model or settings.get("model")) != AUTO:
            raise InputError(f'{self.config}: budget is the time of the race; use it with model = "{AUTO}"')
        return replace(self, **{k: v for k, v in settings.items() if getattr(self, k) is None}), parameters

    @property
    def files(self) -> FileChoice:
        return FileChoice(
            format=self.file_format,
            label=self.label,
            columns=self.columns,
            sequence=self.sequence,
            encoding=self.encoding,
        )


def train(options: TrainOptions, flags: Mapping[str, Any]) -> int:
    """Learn a model from a file of labelled sequences."""
    options, from_config = options.with_config()
    if options.output is None:
        raise InputError("train writes a model file, but --output is not given; give --output m.hedgerow")
    inputs = [options.train_file, options.dev, options.config, options.template]
    check_output(options.output, force=options.force, inputs=inputs)
    run = _Run(options, options.output)
    if options.model == AUTO:
        if from_config:
            raise InputError(
                f'{options.config}: model = "auto" chooses the parameters itself; leave [{PARAMETERS}] out'
            )
        return run.race()
    cls = estimator_class(options.model or DEFAULT)
    return run.fit(cls, {**from_file(cls, from_config), **flags})


@dataclass
class _Run:
    """One training: the options, and what is said about it on standard error."""

    options: TrainOptions
    output: str

    def say(self, message: str) -> None:
        if not self.options.quiet:
            say(message)

    def fit(self, cls: type[Any], parameters: Mapping[str, Any]) -> int:
        """Fit one estimator."""
        import hedgerow as hr

        configured(cls, parameters)  # before the files are read
        given = self.options.template
        if given is not None:
            template_of(given)  # before the files are read
        corpus, dev = self.read()
        if is_corpus(self.options.train_file):
            template = None
            self.say("features: those of the corpus")
        else:
            template = hr.templates.choose(corpus.X) if given is None else template_of(given, corpus.layout)
            with naming_template(self.options.train_file, corpus):
                self.say(features_in_words(template, corpus, chosen=given is None))
        if "window" in parameters and not reads_through_window(template, corpus):
            self.say("note: --window has no effect: the features have offsets of their own; see --template")
        estimator = configured(cls, {**_defaults(cls, template, len(corpus.X)), **parameters, "features": template})
        self.say(f"training {estimator!r}")
        if len(corpus.X) == 1 and dev is None and getattr(estimator, "n_rounds", None) == "auto":
            self.say("note: with one sequence none is held out to find the number of rounds; see --n-rounds")
        began = time.perf_counter()
        interrupted = self._fit(estimator, corpus, dev)
        return self.finish(estimator, corpus, dev, time.perf_counter() - began, interrupted=interrupted)

    def _fit(self, estimator: Estimator, corpus: Corpus, dev: Corpus | None) -> bool:
        """Fit; whether Ctrl-C ended it. What was learned until then is kept."""
        import hedgerow as hr

        X_dev, y_dev = (None, None) if dev is None else dev
        progress = [] if self.options.quiet else [hr.callbacks.Progress()]
        sources = (self.options.train_file, corpus), None if dev is None else (self.options.dev or "", dev)
        try:
            with naming_lines(*sources, self.options.encoding):
                estimator.fit(
                    corpus.X,
                    corpus.y,  # type: ignore[arg-type]
                    X_dev,
                    y_dev,
                    sample_weight=corpus.sample_weight,
                    callbacks=progress,
                )
        except KeyboardInterrupt:
            if not hasattr(estimator, "model_"):
                say(f"interrupted before the first step: {self.output} is not written")
                raise
            return True
        return False

    def race(self) -> int:
        """Let `hedgerow.tune` choose estimator and parameters."""
        import hedgerow as hr
        from hedgerow.tuning.budget import seconds_of

        if self.options.template is not None:
            raise InputError(f"--model {AUTO} chooses the features itself; leave --template out, or name a model")
        budget = self.options.budget or BUDGET
        seconds_of(budget)  # before the files are read
        corpus, dev = self.read()
        began = time.perf_counter()
        result = hr.tune(
            corpus.X,
            corpus.y,  # type: ignore[arg-type]
            budget=budget,
            random_state=0,
            verbose=int(not self.options.quiet),
        )
        for line in result.summary().splitlines():
            self.say(line)
        seconds = time.perf_counter() - began
        return self.finish(result.model, corpus, dev, seconds, interrupted=result.stopped == "interrupted")

    def read(self) -> tuple[Corpus, Corpus | None]:
        """(training data, dev data if there are any)."""
        import hedgerow as hr

        corpus = self._read_training()
        if not self.options.quiet:
            describe(self.options.train_file, corpus)
            if self.options.model == AUTO and not is_corpus(self.options.train_file):
                note_documents(self.options.train_file)
        if self.options.dev is None:
            return corpus, None
        if is_corpus(self.options.dev):
            return corpus, open_labelled(self.options.dev)
        with naming_flags():
            dev = hr.read(self.options.dev, layout=corpus.layout, encoding=self.options.encoding or "utf-8")
        if dev.y is None:
            raise InputError(f"{self.options.dev} must have labels, as {self.options.train_file} has, but it has none")
        if not self.options.quiet:
            describe(self.options.dev, dev)
        return corpus, dev

    def _read_training(self) -> Corpus:
        path = self.options.train_file
        if not is_corpus(path):
            return read_labelled(path, self.options.files)
        refuse_file_flags(path, template=self.options.template, **vars(self.options.files))
        return open_labelled(path)

    def finish(
        self, estimator: Estimator, corpus: Corpus, dev: Corpus | None, seconds: float, *, interrupted: bool
    ) -> int:
        """Save the model, score it, and say so."""
        model = replace(estimator.model_, layout=corpus.layout.to_json())
        model.save(self.output)
        n_bytes = Path(self.output).stat().st_size
        scored, name = (corpus, "training") if dev is None else (dev, "dev")
        encoded = is_corpus(self.options.train_file if dev is None else self.options.dev)
        scores = {} if interrupted else (score_corpus if encoded else _scores)(estimator, scored)
        shown = "".join(f", {name} {score.replace('_', ' ')} {value:.2%}" for score, value in scores.items())
        if interrupted:
            say(f"interrupted after {duration(seconds)}; {self.output} has what was learned so far, {size(n_bytes)}")
        else:
            self.say(f"trained in {duration(seconds)}{shown}; {self.output} has {size(n_bytes)}")
        if self.options.as_json:
            print_json(
                {
                    "model": type(estimator).__name__,
                    "setting": repr(estimator),
                    "output": self.output,
                    "bytes": n_bytes,
                    "seconds": seconds,
                    "interrupted": interrupted,
                    "labels": len(estimator.classes_),
                    "sequences": len(corpus.X),
                    "positions": corpus.X.n_positions,
                    "layout": corpus.layout.to_json(),
                    f"{name}_scores": scores,
                    "last_step": {k: v for k, v in (estimator.training_log_ or [{}])[-1].items() if _is_plain(v)},
                }
            )
        return INTERRUPTED if interrupted else 0


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _defaults(cls: type[Any], template: Any, n_sequences: int) -> dict[str, Any]:
    """Parameters that differ from the defaults of the estimator.

    A seed, so that the same command gives the same model; and trees over a linear model where attributes are sparse,
    which docs/choosing.md recommends for words: attributes that somebody designed are as sparse. The linear model needs
    two sequences, because each gets its scores from the others.
    """
    is_sparse = template is None or not set(template.to_json()) <= {"tags", "letters", "numbers"}
    linear = {"linear": True} if cls.__name__ == "TreeCRF" and is_sparse and n_sequences > 1 else {}
    return {"random_state": 0, **linear}


def _scores(estimator: Estimator, corpus: Corpus) -> dict[str, float]:
    """Accuracy, and the F1 of spans where labels mark spans."""
    import hedgerow as hr
    from hedgerow.cli.span_scheme import scheme_of

    assert corpus.y is not None
    predicted = estimator.predict(corpus.X)
    scores = {"accuracy": hr.metrics.accuracy(corpus.y, predicted)}
    labels = {label for one in corpus.y for label in one.tolist()}
    scheme = scheme_of(corpus.y, [*estimator.classes_.tolist(), *labels])
    if scheme is not None:
        scores["span_F1"] = hr.metrics.span_f1(corpus.y, predicted, scheme=scheme)
    return scores
