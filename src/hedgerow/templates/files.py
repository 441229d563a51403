"""Templates as text files: TOML, and the template files of CRF++."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hedgerow.errors import InputError
from hedgerow.templates.base import Template, template_from_json
from hedgerow.templates.crfpp import is_crfpp, parse_crfpp


def read(path: str | os.PathLike[str], columns: Sequence[str | None] | None = None) -> Template:
    """Read a template from a file.

    Parameters
    ----------
    path : str or path
        A TOML file, as `to_toml` writes it, or a template file of CRF++. Which one it is follows from its content.
    columns : list of (str or None), optional
        The names of the columns that a CRF++ file numbers from 0; None for one that is not in X, such as the label. By
        default "column0", "column1", ..., as `hedgerow.read` names them.

    Returns
    -------
    Template
        A value for `features` of any estimator.

    Raises
    ------
    InputError
        If the file does not hold a template. The message names the file, and the line or the key.

    Examples
    --------
    >>> from pathlib import Path
    >>> import hedgerow as hr
    >>> _ = Path("words.toml").write_text(hr.templates.words("form").to_toml())
    >>> hr.templates.read("words.toml")
    words(column='form')
    >>> _ = Path("template").write_text("U00:%x[-1,0]\\nU01:%x[0,0]/%x[0,1]\\nB\\n")
    >>> print(hr.templates.read("template", columns=["form", "tag"]).to_toml())
    [columns]
    U00 = { from = "form", at = -1, outside = "distance" }
    U01 = { join = [{ from = "form", outside = "distance" }, { from = "tag", outside = "distance" }] }
    <BLANKLINE>
    """
    import tomllib  # a model that is loaded does not need it

    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be in UTF-8, but byte {error.start} is not; convert the file") from None
    except IsADirectoryError:
        raise InputError(f"{path} must be a template, but it is a directory; give a file") from None
    text = text.removeprefix("\ufeff")
    try:
        return parse_crfpp(text, columns) if is_crfpp(text) else template_from_json(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} must be a template in TOML: {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
