"""Names that were perhaps meant, for messages about names that do not exist."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """A question with the name that is nearest to one that does not exist; `otherwise` if none is near.

    The dashes of flags do not count: all flags have them.
    """
    import difflib

    by_letters = {one.lstrip("-"): one for one in known}
    nearest = difflib.get_close_matches(name.lstrip("-"), by_letters, n=1)
    return f"did you mean {by_letters[nearest[0]]}?" if nearest else otherwise
