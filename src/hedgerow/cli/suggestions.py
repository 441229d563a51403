"""Names that were perhaps meant, for messages about names that do not exist."""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str) -> str:
    """A question with the known name that is nearest to a name, or has it in it; `otherwise` if there is none.

    The dashes of flags do not count: all flags have them.
    """
    import difflib

    by_letters = {one.lstrip("-"): one for one in known}
    given = name.lstrip("-")
    inside = [one for one in by_letters if len(given) > 1 and given in one]
    nearest = difflib.get_close_matches(given, by_letters, n=1) or inside
    return f"did you mean {by_letters[nearest[0]]}?" if nearest else otherwise
