"""Template: a declaration of columns to derive. Templates add up, and are stored by the names of their sections."""

from __future__ import annotations

import importlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar

from hedgerow.data.columns import CategoricalColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Derived, Plan
from hedgerow.encoding.rules import Template as _Template
from hedgerow.errors import InputError
from hedgerow.templates.toml_text import to_toml

NAMELESS = "symbol"  # the name of the only column of lists of strings and of str


class Template(_Template):
    """A declaration of columns to derive; immutable, and equal by value. `a + b` derives the columns of both."""

    def __add__(self, other: Template) -> Template:
        if not isinstance(other, Template):
            return NotImplemented
        return _sum_of((*self.sections(), *other.sections()))

    @abstractmethod
    def sections(self) -> tuple[Section, ...]:
        """The templates of which this one is the sum."""

    @property
    def edge_columns(self) -> frozenset[str]:
        """The columns whose attributes have weights for two labels that follow each other, and none for one label."""
        return frozenset(name for part in self.sections() for name in part.own_edge_columns)

    def to_json(self) -> dict[str, Any]:
        """Return the template in types that JSON has.

        Returns
        -------
        dict
            The parameters of each section, by its name.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.templates.letters(3).to_json()
        {'letters': {'n': 3}}
        >>> (hr.templates.words("form") + hr.templates.numbers()).to_json()
        {'words': {'column': 'form'}, 'numbers': {}}
        """
        return {section.name: section.parameters() for section in self.sections()}

    def to_toml(self) -> str:
        """Return the template as the text of a TOML file, which `hedgerow.templates.read` reads.

        Returns
        -------
        str
            One table for each section.

        Examples
        --------
        >>> import hedgerow as hr
        >>> print((hr.templates.words("form") + hr.templates.numbers()).to_toml())
        [words]
        column = "form"
        <BLANKLINE>
        [numbers]
        <BLANKLINE>
        """
        return to_toml(self.to_json())

    def expand(self, X: object) -> Template:
        """Return the template that describes each column which this one derives from X.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit` of an estimator.

        Returns
        -------
        Template
            A template of `hedgerow.templates.columns`, to write to a file and edit.

        Raises
        ------
        InputError
            If X lacks a column that the template needs.

        Examples
        --------
        >>> import hedgerow as hr
        >>> print(hr.templates.tags().expand([["on", "off"]]).to_toml().splitlines()[1])
        "tag[-2]" = { from = "symbol", at = -2 }
        """
        from hedgerow.templates.column_template import expanded

        sequences = Sequences(X)
        self.plan(sequences)
        return _sum_of(expanded(self.sections(), sequences))

    def describe(self, X: object) -> str:
        """Say in one line which columns are derived from X.

        Parameters
        ----------
        X : list of sequences
            Read as in `fit` of an estimator.

        Returns
        -------
        str
            One line of text.

        Raises
        ------
        InputError
            If X lacks a column that the template needs.

        Examples
        --------
        >>> import hedgerow as hr
        >>> hr.templates.letters(2).describe(["cat", "dog"])
        'letters(n=2): letters at -2..2, strings of 2 to 5'
        """
        sequences = Sequences(X)
        self.plan(sequences)
        return "; ".join(section.summary(sequences) for section in self.sections())


class Section(Template):
    """A template with a name, such as `words`; its fields are its parameters."""

    name: ClassVar[str]

    @property
    def own_edge_columns(self) -> tuple[str, ...]:
        """The columns of this section for two labels."""
        return ()

    def sections(self) -> tuple[Section, ...]:
        return (self,)

    @abstractmethod
    def summary(self, sequences: Sequences) -> str:
        """What is derived from these sequences, in one line; `plan` has accepted them."""

    def parameters(self) -> dict[str, Any]:
        """The parameters that are not at their defaults, in types that JSON has."""
        declared = fields(self)  # type: ignore[arg-type]
        changed = {f.name: getattr(self, f.name) for f in declared if getattr(self, f.name) != f.default}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in changed.items()}

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Section:
        """The section with these parameters; raises InputError if it has no such parameter, or needs another."""
        declared = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
        unknown = [name for name in parameters if name not in declared]
        if unknown:
            known = f"it has {', '.join(declared)}" if declared else "it has none"
            raise InputError(f"{cls.name} has no parameter {unknown[0]!r}; {known}")
        needed = [name for name, field in declared.items() if field.default is MISSING and name not in parameters]
        if needed:
            raise InputError(f"{cls.name} needs the parameter {needed[0]!r}, but it is not given; give it")
        return cls(**parameters)

    def __repr__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.parameters().items())})"


@dataclass(frozen=True, repr=False)
class Sum(Template):
    """Several sections: the columns of all of them, each column once."""

    parts: tuple[Section, ...]

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"a template may have {twice} only once, but got {self}; leave one of them out")

    def sections(self) -> tuple[Section, ...]:
        return self.parts

    def plan(self, sequences: Sequences) -> Plan:
        found: dict[str, Derived] = {}
        for part in self.parts:
            for column in part.plan(sequences):
                for_two_labels = column.name in found and column.name in self.edge_columns
                if for_two_labels or found.setdefault(column.name, column) != column:
                    raise InputError(
                        f"{self}: two sections derive a column {column.name!r} in different ways; rename one"
                    )
        return list(found.values())

    def __repr__(self) -> str:
        return " + ".join(map(repr, self.parts))


def _sum_of(parts: Iterable[Section]) -> Template:
    distinct = tuple(dict.fromkeys(parts))
    return distinct[0] if len(distinct) == 1 else Sum(distinct)


# The class of each section, imported when a template needs it.
_SECTIONS = {
    "words": "word_template.Words",
    "tags": "tag_template.Tags",
    "letters": "letter_template.Letters",
    "numbers": "number_template.Numbers",
    "columns": "column_template.Columns",
    "edges": "column_template.Edges",
}


def _section_of(name: str, parameters: Mapping[str, Any]) -> Section:
    module, _, cls = _SECTIONS[name].partition(".")
    found: type[Section] = getattr(importlib.import_module(f"hedgerow.templates.{module}"), cls)
    return found.of(parameters)


def template_from_json(stored: object) -> Template:
    """The template that `to_json` described; raises InputError if the description is not valid."""
    if not isinstance(stored, Mapping) or not stored:
        raise InputError(f"features must be the description of a template, but got {stored!r}")
    parts = []
    for name, parameters in stored.items():
        if name not in _SECTIONS:
            raise InputError(f"a template has no section {name!r}; the sections are {', '.join(_SECTIONS)}")
        if not isinstance(parameters, Mapping):
            raise InputError(f"{name} must be a section with parameters, but got {parameters!r}; write [{name}]")
        parts.append(_section_of(name, parameters))
    return _sum_of(parts)


def parse_template(text: str) -> Template:
    """The template of a command-line flag: words, words:COLUMN, tags, letters:N or numbers; several with + between."""
    sections = re.split(rf"\+(?=(?:{'|'.join(_SECTIONS)})(?:[:+]|$))", text)  # a name of a column may have + in it
    return _sum_of(map(_parse_section, sections))


def _parse_section(text: str) -> Section:
    name, colon, value = text.partition(":")
    match name, bool(colon):
        case ("words", True):
            return _section_of("words", {"column": value})
        case ("letters", True) if value.isdecimal():
            return _section_of("letters", {"n": int(value)})
        case ("words" | "tags" | "numbers", False):
            return _section_of(name, {})
    raise InputError(f"features must be words, words:COLUMN, tags, letters:N or numbers; it is {text!r}")


def texts_of(sequences: Sequences) -> list[CategoricalColumn]:
    """The columns of text."""
    return [column for column in sequences.columns if isinstance(column, CategoricalColumn)]


def names_of(sequences: Sequences) -> list[str]:
    """The names of all columns, for messages."""
    return [column.name for column in sequences.columns]


def shown(column: str, nameless: str) -> str:
    """The name of a column in the names of derived columns; the only column of lists of str has none of its own."""
    return nameless if column == NAMELESS else column


def at(name: str, offset: int) -> str:
    """The name of a derived column at an offset."""
    return name if offset == 0 else f"{name}[{offset}]"
