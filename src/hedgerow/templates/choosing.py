"""The template that fits the columns of X."""

from __future__ import annotations

import numpy as np

from hedgerow.data.columns import ABSENT, CategoricalColumn, FoldedBag, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.templates.base import NAMELESS, Template, texts_of
from hedgerow.templates.letter_template import Letters, longer_text
from hedgerow.templates.number_template import Numbers
from hedgerow.templates.tag_template import Tags
from hedgerow.templates.word_template import Words

# Text holds words if it has so many different values, or a new one at every tenth position: small files have few words.
MANY_VALUES, POSITIONS_PER_VALUE = 200, 10
# Strings around a letter; on stress, hyphens and sounds of words, 5 was as good as 3 or better.
LETTERS = 5
# More columns of numbers than this are vectors, such as embeddings, whose single numbers mean little.
MOST_NUMBERS = 100


def choose(X: object) -> Template | None:
    """Choose a template by the kind of the columns of X.

    Each kind of column gets the template made for it:

    - text with many different values: `words`, with the other columns of text as tags. Many are 200, or one for every
      ten positions;
    - text of single letters only, without numbers beside it: `letters(5)`;
    - other text: `tags`;
    - numbers, in at most 100 columns that do not hold 0 and 1 alone: `numbers`.

    Parameters
    ----------
    X : list of sequences
        Read as in `fit` of an estimator.

    Returns
    -------
    Template or None
        A value for `features`; the sum of two templates if X has text and numbers. None if the columns are best read as
        they are: bags, and dicts whose keys are there at some positions only, hold attributes that somebody designed;
        changes of marks or of long vectors tell little.

    Raises
    ------
    InputError
        If X is not valid.

    Examples
    --------
    >>> import hedgerow as hr
    >>> hr.templates.choose(["cat", "dog"])
    letters(n=5)
    >>> hr.templates.choose([[{"mode": "on", "heat": 20.5}, {"mode": "on", "heat": 21.0}] * 20])
    tags() + numbers()
    >>> print(hr.templates.choose([[["w[0]=The", "w[1]=cat"], ["w[0]=cat", "w[-1]=The"]]]))
    None
    """
    sequences = Sequences(X)
    texts = texts_of(sequences)
    if any(isinstance(column, FoldedBag) for column in sequences.columns) or any(map(_is_optional, texts)):
        return None
    numeric = [column for column in sequences.columns if isinstance(column, NumericColumn)]
    of_text, of_numbers = _of_text(texts, sequences.n_positions, alone=not numeric), _of_numbers(numeric)
    return of_text + of_numbers if of_text and of_numbers else of_text or of_numbers


def _of_numbers(columns: list[NumericColumn]) -> Template | None:
    """The template of the columns of numbers."""
    measured = any(not np.isin(column.values[~np.isnan(column.values)], (0, 1)).all() for column in columns)
    return Numbers() if measured and len(columns) <= MOST_NUMBERS else None


def _of_text(texts: list[CategoricalColumn], n_positions: int, alone: bool) -> Template | None:
    """The template of the columns of text; `alone` if there are no numbers."""
    if not any(len(column.alphabet) for column in texts):
        return None
    if all(longer_text(column) is None for column in texts):
        return Letters(LETTERS) if alone else Tags()
    word = max(texts, key=lambda column: len(column.alphabet))
    if len(word.alphabet) >= min(MANY_VALUES, n_positions / POSITIONS_PER_VALUE):
        return Words(None if word.name == NAMELESS else word.name)
    return Tags()


def _is_optional(column: CategoricalColumn) -> bool:
    """Whether some positions do not have the column, as with keys of dicts."""
    return bool((column.codes == ABSENT).any())
