"""Templates as text files: TOML, and the template files of CRF++."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from hedgerow.errors import InputError
from hedgerow.templates.base import Template, template_from_json


def read(path: str | os.PathLike[str]) -> Template:
    """Read a template from a file.

    Parameters
    ----------
    path : str or path
        A TOML file, as `to_toml` writes it.

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
    """
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path} must be in UTF-8, but byte {error.start} is not; convert the file") from None
    except IsADirectoryError:
        raise InputError(f"{path} must be a template, but it is a directory; give a file") from None
    try:
        return template_from_json(tomllib.loads(text.removeprefix("\ufeff")))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} must be a template in TOML: {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
