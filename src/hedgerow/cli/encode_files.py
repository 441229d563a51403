"""The work of `hedgerow encode`: read files, write a corpus, say what it holds."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hedgerow.cli.corpus_folders import is_corpus
from hedgerow.cli.failures import INTERRUPTED, say
from hedgerow.cli.output import print_json
from hedgerow.cli.plain_text import size
from hedgerow.cli.reading import FileChoice, naming_flags
from hedgerow.cli.template_choice import template_of
from hedgerow.errors import InputError
from hedgerow.utilities import counted, duration


@dataclass(frozen=True, kw_only=True)
class EncodeOptions:
    """The options of the command that say nothing about files."""

    template: str | None
    min_freq: int
    missing: str | None
    like: str | None
    shard_positions: int
    jobs: int
    force: bool
    quiet: bool
    as_json: bool


def encode(sources: list[str], output: str | None, choice: FileChoice, options: EncodeOptions) -> int:
    """Encode files into a folder."""
    import hedgerow as hr

    if output is None:
        raise InputError("encode writes a folder, but --output is not given; give --output train.corpus")
    if Path(output).exists() and not options.force:
        raise InputError(f"{output} exists already; use --force to replace it, or name another folder")
    arguments = {**choice.arguments(), **_features(sources, choice, options)}
    began = time.perf_counter()
    try:
        with naming_flags():
            encoded = hr.encode(
                sources,
                output,
                shard_positions=options.shard_positions,
                n_jobs=options.jobs,
                progress=not options.quiet,
                overwrite=options.force,
                **arguments,
            )
    except KeyboardInterrupt:
        say(f"interrupted: what was encoded is kept beside {output}; the same command continues")
        return INTERRUPTED
    _report(encoded, output, time.perf_counter() - began, options)
    return 0


def _features(sources: list[str], choice: FileChoice, options: EncodeOptions) -> dict[str, Any]:
    """The arguments that say which columns are encoded."""
    if options.like is not None:
        given = {"--template": options.template, "--missing": options.missing}
        flag = next((flag for flag, value in given.items() if value is not None), None)
        if flag is not None or options.min_freq != 1:
            raise InputError(f"--like has its own columns and alphabets; leave {flag or '--min-freq'} out")
        return {"like": _like(options.like)}
    template = None if options.template is None else _template(options.template, sources, choice)
    return {"features": template, "min_freq": options.min_freq, "missing": options.missing}


def _template(text: str, sources: list[str], choice: FileChoice) -> Any:
    """The template; a CRF++ file names columns by number, so that the first file says their names."""
    if not Path(text).is_file() or sources[0] == "-":
        return template_of(text)
    from hedgerow.formats import read_blocks

    with naming_flags():
        block = next(read_blocks(sources[0], **choice.arguments()), None)
    return template_of(text, None if block is None else block.layout)


def _like(path: str) -> Any:
    import hedgerow as hr

    return hr.Encoded.open(path) if is_corpus(path) else hr.load(path)


def _report(encoded: Any, output: str, seconds: float, options: EncodeOptions) -> None:
    n_bytes = sum(file.stat().st_size for file in Path(output).iterdir())
    labels = 0 if encoded.y is None else len(set(_labels(encoded)))
    if not options.quiet:
        say(
            f"{output}: {counted(len(encoded), 'sequence')}, {counted(encoded.n_positions, 'position')}, "
            f"{counted(len(encoded.columns), 'column')}, {counted(labels, 'label')}, "
            f"{counted(len(encoded.shards()), 'shard')}; {size(n_bytes)} in {duration(seconds)}"
        )
    if options.as_json:
        print_json(
            {
                "output": output,
                "sequences": len(encoded),
                "positions": encoded.n_positions,
                "columns": [column.name for column in encoded.columns],
                "labels": labels,
                "shards": len(encoded.shards()),
                "bytes": n_bytes,
                "seconds": seconds,
                "values_left_out": dict(encoded.unseen),
            }
        )


def _labels(encoded: Any) -> list[Any]:
    """The distinct labels."""
    import numpy as np

    found: list[Any] = np.unique(encoded.y.values).tolist()
    return found
