"""The work of `hedgerow datasets`: the list of data sets, and descriptions of those whose files are not here."""

from __future__ import annotations

import json

from hedgerow.datasets.catalogue import about, availability, names

_MEANING = "offline: works now; download: fetched when it is used; by hand: its description says where the file is"


def list_sets(*, as_json: bool) -> None:
    """Print the names of all data sets, what they hold, and whether they work offline."""
    if as_json:
        print(json.dumps({name: {"title": about(name).title, "available": availability(name)} for name in names()}))
        return
    width = max(map(len, names()))
    for name in names():
        print(f"{name:<{width}}  {availability(name):<8}  {about(name).title}")
    print(f"({_MEANING})")


def describe_without_file(name: str) -> str:
    """What is known of a data set without its file."""
    it = about(name)
    facts = {"columns": it.columns, "labels": it.labels, "source": it.source, "licence": it.licence, "note": it.note}
    return "\n".join([f"{name}: {it.title}", *(f"  {fact:<9}  {text}" for fact, text in facts.items() if text)])
