"""The general template: a list of named columns, each with its definition."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hedgerow.data.columns import CategoricalColumn, NumericColumn
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.rules import Bag, Derived, Pair, Part, Plan, Rule, Summary
from hedgerow.errors import InputError, first_few, type_name
from hedgerow.templates.base import Section, names_of
from hedgerow.templates.definitions import AnyOf, Definition, Join, definition_from_json, definition_to_json

MOST_SHOWN = 4  # definitions in a repr


@dataclass(frozen=True, repr=False)
class Columns(Section):
    """The template of `columns`."""

    definitions: tuple[tuple[str, Definition], ...]
    name: ClassVar[str] = "columns"

    def __post_init__(self) -> None:
        if not self.definitions:
            raise InputError(f"{self.name}: a template must define at least one column, but it defines none")
        _check_members(self.name, self.definitions)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Columns:
        described = parameters.items()
        return cls(tuple((name, definition_from_json(f"{cls.name}.{name!r}", stored)) for name, stored in described))

    def parameters(self) -> dict[str, Any]:
        return {name: definition_to_json(definition) for name, definition in self.definitions}

    def plan(self, sequences: Sequences) -> Plan:
        _check_sources(self.name, self.definitions, sequences)
        planner = _Planner(self.name)
        for name, definition in self.definitions:
            planner.add(name, definition)
        return planner.plan

    def summary(self, sequences: Sequences) -> str:
        read = {part.source: None for _, definition in self.definitions for part in _read(definition)}
        return f"{self.name}: {len(self.definitions)} derived from {first_few(list(read))}"

    def __repr__(self) -> str:
        if len(self.definitions) <= MOST_SHOWN:
            return f"{self.name}({self.parameters()!r})"
        return f"{self.name}(<{len(self.definitions)}: {first_few([name for name, _ in self.definitions])}>)"


@dataclass(frozen=True, repr=False)
class Edges(Columns):
    """The template of `edges`."""

    name: ClassVar[str] = "edges"

    @property
    def own_edge_columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.definitions)


def expanded(sections: Iterable[Section], sequences: Sequences) -> list[Section]:
    """The sections with each column described: one of columns, and one of edges if there are any."""
    found: dict[str, Definition] = {}
    edges: list[Section] = []
    for part in sections:
        if isinstance(part, Edges):
            edges.append(part)
        elif isinstance(part, Columns):
            found |= part.definitions
        else:
            found |= {name: _definition(rule) for name, rule, _ in part.plan(sequences)}
    return [Columns(tuple(found.items())), *edges] if found else edges


def _definition(rule: Rule) -> Definition:
    """The definition of a rule that a preset plans."""
    assert not isinstance(rule, Bag)
    return Join((rule.left, rule.right)) if isinstance(rule, Pair) else rule


class _Planner:
    """Turns definitions into rules. A join becomes a chain of pairs; what only pairs and bags read is hidden."""

    def __init__(self, section_name: str) -> None:
        self.plan: list[Derived] = []
        self._section = section_name
        self._names: dict[Rule, str] = {}  # the first column with this rule

    def add(self, name: str, definition: Definition) -> None:
        """Plan a column after those that it reads."""
        if isinstance(definition, AnyOf):
            rule: Rule = Bag(tuple(map(self._member, definition.members)))
        else:
            rule = self._joined(definition) if isinstance(definition, Join) else definition
        self._append(Derived(name, rule))

    def _joined(self, join: Join) -> Pair:
        *others, last = map(self._member, join.members)
        left = others[0]
        for right in others[1:]:
            left = self._hidden(Pair(left, right))
        return Pair(left, last)

    def _member(self, member: str | Part | Join) -> str:
        """The name of the column of a member."""
        if isinstance(member, str):
            return member
        return self._hidden(self._joined(member) if isinstance(member, Join) else member)

    def _hidden(self, rule: Part | Pair) -> str:
        """The name of a column with this rule; a hidden one if there is none yet."""
        if rule not in self._names:
            self._append(Derived(f"<{self._section} {len(self.plan)}>", rule, hidden=True))
        return self._names[rule]

    def _append(self, column: Derived) -> None:
        self.plan.append(column)
        self._names.setdefault(column.rule, column.name)


def _check_members(section_name: str, definitions: Sequence[tuple[str, Definition]]) -> None:
    """Raise InputError unless joins and bags name columns of text that are defined before them."""
    before: dict[str, Definition] = {}
    for name, definition in definitions:
        for member in _leaves(definition):
            if isinstance(member, str) and not isinstance(before.get(member), (Part, Join)):
                found = "it holds no text" if member in before else f"those before are {first_few(list(before))}"
                raise InputError(
                    f"{section_name}.{name!r} must name columns of text that the template defines before it, but got "
                    f"{member!r}: {found}"
                )
        before[name] = definition


def _check_sources(section_name: str, definitions: Sequence[tuple[str, Definition]], sequences: Sequences) -> None:
    """Raise InputError unless X has the columns that the definitions read, of the kind that they need."""
    here = {column.name: column for column in sequences.columns}
    for name, definition in definitions:
        for read in _read(definition):
            kind, noun = (NumericColumn, "numbers") if isinstance(read, Summary) else (CategoricalColumn, "text")
            if not isinstance(here.get(read.source), kind):
                found = f"it holds no {noun}" if read.source in here else f"the columns are {names_of(sequences)}"
                raise InputError(
                    f"{section_name}.{name!r}: X must have a column {read.source!r} of {noun}, but {found}; name a "
                    f"column of {noun}"
                )


def _leaves(definition: Definition) -> Iterator[str | Part | Summary]:
    """The columns of the template, by name, and the parts and statistics that a definition reads."""
    if isinstance(definition, (Join, AnyOf)):
        for member in definition.members:
            yield from (member,) if isinstance(member, str) else _leaves(member)
    else:
        yield definition


def _read(definition: Definition) -> list[Part | Summary]:
    """What a definition reads of X."""
    return [leaf for leaf in _leaves(definition) if not isinstance(leaf, str)]


def columns(definitions: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Derive columns that are described one by one.

    Parameters
    ----------
    definitions : dict of dicts
        For the name of each column how it is derived:

        - ``{"from": "form", "part": "suffix3", "at": -1}``: a part of the text of a column of X, at an offset from the
          position. Parts are text (the default), lower, prefix1 to prefix8, suffix1 to suffix8, shape, outline and
          constant. With ``"outside": "distance"`` positions outside the sequence have the values of CRF++: _B-1, _B-2,
          ..., _B+1; otherwise all have the value <outside>.
        - ``{"from": "heat", "statistic": "mean", "at": [-5, 5]}``: the mean, deviation, lowest or highest of numbers
          from the first to the last offset. ``{"from": "heat", "statistic": "change", "at": -1}``: the number minus the
          one at that offset.
        - ``{"join": ["form[-1]", {"from": "tag"}]}``: the values of two or more columns together. A name is a column
          that was described before; a dict is a part of a text that is not a column itself.
        - ``{"any": [{"from": "form", "at": -1}, {"from": "form", "at": 1}]}``: a bag of the values of several columns.
          Equal values of different columns are one attribute.

    Returns
    -------
    Template
        A value for `features` of any estimator.

    Raises
    ------
    InputError
        If a description is not valid. `fit` raises it if X lacks a column.

    Examples
    --------
    >>> import hedgerow as hr
    >>> template = hr.templates.columns({"end": {"from": "symbol", "part": "suffix2"}})
    >>> X, y = [["he", "walked"], ["she", "jumped"]], [["N", "V"], ["N", "V"]]
    >>> model = hr.LinearCRF(features=template).fit(X, y)
    >>> model.predict_single(["talked"]).tolist()
    ['V']
    """
    return Columns.of(_checked("columns", definitions))


def edges(definitions: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Derive columns whose attributes have weights for two labels that follow each other, and none for one label.

    Only ``LinearCRF(edge_features=True)`` has such weights. Add the template to another one, for weights of single
    labels: ``hr.templates.words() + hr.templates.edges({"tag": {"from": "tag"}})``.

    Parameters
    ----------
    definitions : dict of dicts
        The columns, described as in `columns`.

    Returns
    -------
    Template
        A value for `features` of ``LinearCRF(edge_features=True)``.

    Raises
    ------
    InputError
        If a description is not valid. `fit` raises it if X lacks a column, or for another estimator.

    Examples
    --------
    >>> import hedgerow as hr
    >>> template = hr.templates.words() + hr.templates.edges({"shape here": {"from": "symbol", "part": "shape"}})
    >>> X, y = [["He", "walked"], ["She", "jumped"]], [["N", "V"], ["N", "V"]]
    >>> model = hr.LinearCRF(features=template, edge_features=True).fit(X, y)
    >>> model.predict_single(["He", "talked"]).tolist()
    ['N', 'V']
    """
    return Edges.of(_checked("edges", definitions))


def _checked(name: str, definitions: object) -> Mapping[str, Any]:
    if not isinstance(definitions, Mapping) or not all(isinstance(key, str) for key in definitions):
        raise InputError(
            f"{name}: definitions must be a dict from names to descriptions, but got {type_name(definitions)}; see "
            "the documentation of hedgerow.templates.columns"
        )
    return definitions
