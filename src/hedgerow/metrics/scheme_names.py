"""The names and letters of the label schemes, and messages about names and labels that do not belong to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

from hedgerow.errors import InputError

#: The letters that a scheme writes.
LETTERS = {"IOB1": "BIO", "IOB2": "BIO", "IOE1": "IEO", "IOE2": "IEO", "IOBES": "BIESO", "BILOU": "BILUO"}
_OTHER_NAMES = {"BIO": "IOB2", "BIO2": "IOB2", "BIOES": "IOBES", "BIOUL": "BILOU", "BILUO": "BILOU"}


def check_scheme(scheme: str) -> None:
    """Raise InputError unless `scheme` is one of the six."""
    if scheme in LETTERS:
        return
    cure = f"choose one of {', '.join(LETTERS)}"
    if isinstance(scheme, str):
        upper = scheme.upper()
        meant = upper if upper in LETTERS else _OTHER_NAMES.get(upper)
        cure = cure if meant is None else f"write {meant!r}"
    raise InputError(f"scheme is {scheme!r}; {cure}")


def refuse_label(label: str, labels: Iterable[str], scheme: str, where: str) -> NoReturn:
    """Raise InputError for a label that does not belong to the scheme; `labels` are all labels beside it."""
    distinct = list(dict.fromkeys(labels))
    if not all(map(_marks_spans, distinct)):
        other = next(one for one in distinct if not _marks_spans(one))
        raise InputError(
            f"{where}: label {label!r} does not begin with a letter of {scheme} ({_letters(scheme)}) and a dash; "
            f"labels such as {other!r} mark no spans; labels that do are written 'B-NP', 'I-NP', 'O'"
        )
    fitting = [name for name in LETTERS if all(one[0] in LETTERS[name] for one in distinct)]
    cure = f"they have the letters of {' and '.join(fitting)}" if fitting else "no scheme has the letters of all labels"
    raise InputError(
        f"{where}: label {label!r} does not begin with a letter of {scheme} ({_letters(scheme)}) and a dash; "
        f"name the scheme the labels are written in: {cure}"
    )


def _letters(scheme: str) -> str:
    return ", ".join(LETTERS[scheme])


def _marks_spans(label: str) -> bool:
    return label[:1] in set("BIELSUO") and label[1:2] in ("", "-")
