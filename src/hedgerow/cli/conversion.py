"""The work of `hedgerow convert`: data files of one format to another, and models of CRFsuite to models of hedgerow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hedgerow as hr
from hedgerow.cli.output import check_output, print_json
from hedgerow.cli.reading import FileChoice, naming_flags
from hedgerow.errors import InputError

CRFSUITE_MODEL = "crfsuite-model"
MODEL_FILES = ".hedgerow"


def convert(source: str, target: str, choice: FileChoice, *, to_format: str | None, force: bool, as_json: bool) -> None:
    """Read one file and write another."""
    if target == "-" and as_json:
        raise InputError("--json prints a summary on standard output, but the file goes there as well; name OUT")
    if target != "-":
        check_output(target, force=force)
    if choice.format == CRFSUITE_MODEL or (choice.format is None and Path(target).suffix == MODEL_FILES):
        facts = _convert_model(source, target)
    else:
        facts = _convert_data(source, target, choice, to_format, force=force)
    if as_json:
        print_json({"input": source, "output": target, **facts})


def _convert_data(
    source: str, target: str, choice: FileChoice, to_format: str | None, *, force: bool
) -> dict[str, Any]:
    with naming_flags():
        corpus = hr.read(source, **choice.arguments())
        hr.write(target, corpus, format=to_format, overwrite=force)
    return {"sequences": len(corpus.X), "positions": corpus.X.n_positions, "layout": corpus.layout.to_json()}


def _convert_model(source: str, target: str) -> dict[str, Any]:
    from hedgerow.compat import from_crfsuite

    if target == "-":
        raise InputError(f"a model is written to a file, but OUT is not given; name it, such as m{MODEL_FILES}")
    if Path(source).is_dir():
        raise InputError(f"{source} must be a model of CRFsuite, but it is a folder; name a file in it")
    model = from_crfsuite(Path(source))
    model.save(target)
    return {"estimator": type(model).__name__, "labels": len(model.classes_)}
