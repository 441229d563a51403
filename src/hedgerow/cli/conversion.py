"""The work of `hedgerow convert`: data files of one format to another, and models of CRFsuite to models of hedgerow."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow import formats
from hedgerow.cli.output import check_output, print_json
from hedgerow.cli.reading import FileChoice, naming_flags
from hedgerow.errors import InputError

CRFSUITE_MODEL = "crfsuite-model"
MODEL_FILES = ".hedgerow"


@dataclass(frozen=True, kw_only=True)
class Target:
    """The file to write: its format and the scheme of its labels, None for those of the source; and how to write it.

    `scheme_before` is the scheme of the labels in the source, if it is given.
    """

    path: str
    format: str | None
    scheme: str | None
    scheme_before: str | None
    force: bool

    def check(self, source: str) -> None:
        """Raise InputError if it cannot be written, is the source, or the schemes do not go together."""
        if self.scheme_before is not None and self.scheme is None:
            raise InputError("--labels-from is the scheme of labels to convert, but --labels is not given; give it")
        if self.path != "-":
            check_output(self.path, force=self.force, inputs=[source])


def convert(source: str, target: Target, choice: FileChoice, *, as_json: bool) -> None:
    """Read one file and write another."""
    if target.path == "-" and as_json:
        raise InputError("--json prints a summary on standard output, but the file goes there as well; name OUT")
    target.check(source)
    if choice.format == CRFSUITE_MODEL or (choice.format is None and Path(target.path).suffix == MODEL_FILES):
        facts = _convert_model(source, target.path)
    else:
        facts = _convert_data(source, target, choice)
    if as_json:
        print_json({"input": source, "output": target.path, **facts})


def _convert_data(source: str, target: Target, choice: FileChoice) -> dict[str, Any]:
    try:
        with naming_flags():
            corpus = formats.convert(
                source,
                target.path,
                to=target.format,
                scheme=target.scheme_before,
                to_scheme=target.scheme,
                overwrite=target.force,
                **choice.arguments(),
            )
    except InputError:
        _refuse_model(source)
        raise
    return {"sequences": len(corpus.X), "positions": corpus.X.n_positions, "layout": corpus.layout.to_json()}


def _refuse_model(source: str) -> None:
    """Raise InputError if the file is a model of CRFsuite and no file of data."""
    from hedgerow.compat.crfsuite_models import is_crfsuite_file

    if source != "-" and is_crfsuite_file(source):
        raise InputError(
            f"{source} must be a file of data, but it is a model of CRFsuite; to convert the model, let the name of "
            f"OUT end with {MODEL_FILES}"
        ) from None


def _convert_model(source: str, target: str) -> dict[str, Any]:
    from hedgerow.compat import from_crfsuite

    if target == "-":
        raise InputError(f"a model is written to a file, but OUT is not given; name it, such as m{MODEL_FILES}")
    if Path(source).is_dir():
        raise InputError(f"{source} must be a model of CRFsuite, but it is a folder; name a file in it")
    model = from_crfsuite(Path(source))
    model.save(target)
    return {"estimator": type(model).__name__, "labels": len(model.classes_)}
