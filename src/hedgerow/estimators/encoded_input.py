"""Sequences that were encoded before, as X: whether an estimator can use them as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.encoding import Encoder
from hedgerow.encoding.encoded import Encoded
from hedgerow.errors import InputError
from hedgerow.templates.base import template_from_json

if TYPE_CHECKING:
    from hedgerow.estimators.base import Estimator


def check_recipe(settings: Estimator, X: Encoded) -> None:
    """Raise InputError unless the features and missing values of an estimator are those of the corpus."""
    corpus, name = X._corpus(), type(settings).__name__
    stored = corpus.recipe.features
    wanted = None if settings.features is None else settings.features.to_json()
    if wanted is not None and wanted != stored:
        has = "without features" if stored is None else f"with features={template_from_json(stored)}"
        raise InputError(
            f"{name}: features must be those of the corpus, or None, but the corpus was encoded {has}, and the "
            f"estimator has features={settings.features}; leave features out, or encode the corpus with them"
        )
    if wanted is None and stored is not None and (edges := template_from_json(stored).edge_columns):
        raise InputError(
            f"{name}: the corpus has columns for weights of two labels, {', '.join(sorted(edges))}, which an estimator "
            "learns only with the same features; pass the features of the corpus to it"
        )
    treatment = settings._treatment
    if treatment is not None and treatment != corpus.recipe.missing and corpus.missing:
        raise InputError(
            f"{name}: missing={treatment!r} replaces missing values, but the corpus, which has some in column "
            f"{next(iter(corpus.missing))!r}, was encoded with missing={corpus.recipe.missing!r}; encode it with "
            f"missing={treatment!r}"
        )


def check_encoder(encoder: Encoder, X: Encoded, data: str = "X") -> None:
    """Raise InputError unless X was encoded with this encoder; `data` is its name in the message."""
    own = X._corpus().encoder
    if own is encoder or own.digest == encoder.digest:
        return
    raise InputError(
        f"{data} must be encoded with the columns and alphabets of the model, but it was encoded with others; encode "
        "it like the model or its training corpus: hedgerow.encode(source, path, like=model), or the flag --like of "
        "hedgerow encode"
    )


def missing_rates(X: Encoded, method: str) -> dict[str, Any]:
    """The report of `missing_report`, from what was counted when the corpus was encoded."""
    rates = dict(X._corpus().missing)
    return {"missing": {"method": method, "rates": rates}} if rates else {}
