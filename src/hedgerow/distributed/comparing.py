"""Partitions beside each other: all must hold the same columns and the same kind of labels, and no sequence twice."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow.distributed.reading import PartitionSummary, Unreadable
from hedgerow.errors import InputError, first_few


def check_readable(summaries: Sequence[PartitionSummary | Unreadable]) -> list[PartitionSummary]:
    """The summaries; raises InputError for the first partition that breaks a rule, or if all are empty."""
    readable = []
    for number, summary in enumerate(summaries):
        if isinstance(summary, Unreadable):
            raise InputError(f"partition {number}: {summary.message}")
        readable.append(summary)
    if not any(summary.n_sequences for summary in readable):
        n = len(readable)
        raise InputError(f"X must hold at least one sequence, but all of its {n} partitions are empty")
    return readable


def check_alike(summaries: Sequence[tuple[int, PartitionSummary]]) -> None:
    """Raise InputError if a partition has other columns, or labels of another kind, than the first one.

    The pairs are (number, summary). Keys of dicts may be absent from a partition, as they may be from a sequence.
    """
    number, first = summaries[0]
    known: dict[str, tuple[int, str]] = {}  # by column: the first partition with values, and their kind
    for other, summary in summaries:
        if (summary.form, summary.optional_columns) != (first.form, first.optional_columns):
            raise InputError(
                f"all partitions must hold one form of sequences, but partition {number} holds {_form(first)} and "
                f"partition {other} {_form(summary)}; convert one of them"
            )
        names = sorted(name for name, _ in summary.kinds)
        expected = sorted(name for name, _ in first.kinds)
        if names != expected and not first.optional_columns:
            raise InputError(
                f"all partitions must have the same columns, but partition {number} has {first_few(expected)} and "
                f"partition {other} has {first_few(names)}; rename or add columns"
            )
        for name, kind in summary.kinds:
            before, expected_kind = known.setdefault(name, (other, kind)) if kind else (other, kind)
            if kind != expected_kind:
                raise InputError(
                    f"column {name!r} must be of one kind in all partitions, but it is {expected_kind} in partition "
                    f"{before} and {kind} in partition {other}; convert it"
                )
        if summary.label_kind != first.label_kind:
            raise InputError(
                f"labels must be all strings, all integers or all bools, but they are {first.label_kind} in partition "
                f"{number} and {summary.label_kind} in partition {other}; convert them"
            )


def _form(summary: PartitionSummary) -> str:
    if summary.form == "encoded":
        return "encoded sequences"
    return "dicts" if summary.optional_columns else "sequences without dicts"


def first_cut(summaries: Sequence[tuple[int, PartitionSummary]]) -> tuple[int, int, int] | None:
    """(partition, other partition, sequence of the other) of the first sequence that has rows in two partitions."""
    keys = [summary.keys for _, summary in summaries if summary.keys is not None]
    if len(keys) < 2:
        return None
    digests = np.ascontiguousarray(np.concatenate(keys)).view(np.dtype((np.void, keys[0].shape[1]))).reshape(-1)
    _, firsts, inverse = np.unique(digests, return_index=True, return_inverse=True)
    again = np.flatnonzero(firsts[inverse] != np.arange(len(digests)))
    if not len(again):
        return None
    ends = np.cumsum([len(part) for part in keys])
    here, there = (int(np.searchsorted(ends, at, side="right")) for at in (firsts[inverse[again[0]]], again[0]))
    return summaries[here][0], summaries[there][0], int(again[0] - (ends[there] - len(keys[there])))
