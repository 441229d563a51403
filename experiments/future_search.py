"""Search that reads future features (dissertation, section 6.2, third open problem).

A quarter of the training words chooses the size of instance bags; then all words are learned from. Every model reads
single letters, so what comes later is known through future features only.

Do features that were found on the words from which the search then learns look better there than on new words?
"split" answers this: features are found on one half of the words, the search learns from the other half.

python experiments/future_search.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import hedgerow as hr
from common import Split, arguments, folds, log, percent, print_machine, print_table

SETS = {"nettalk-binary": "NETtalk, two labels", "nettalk-stress": "NETtalk stress, five labels"}
ORDERS = (1, 2, 3)
BAGS: tuple[int | str, ...] = (2, 4, "rest")


class Model(Protocol):
    def fit(self, X: Any, y: Any) -> Any: ...

    def predict(self, X: Any) -> Any: ...


def search(order: int, **parameters: Any) -> hr.SearchTagger:
    return hr.SearchTagger(order=order, random_state=0, n_jobs=1, **parameters)


def discoverer(bag: int | str) -> hr.FutureMEMM:
    return hr.FutureMEMM(order=1, bag=bag, random_state=0, n_jobs=1)


@dataclass
class SplitSearch:
    """Finds future features on half of the words; a search over letters and their values learns from the others."""

    order: int
    bag: int | str

    def fit(self, X: Any, y: Any) -> SplitSearch:
        half = len(X) // 2
        self.found = discoverer(self.bag).fit(X[:half], y[:half])
        self.search = search(self.order).fit(self.columns(X[half:]), y[half:])
        return self

    def predict(self, X: Any) -> Any:
        return self.search.predict(self.columns(X))

    def columns(self, X: Any) -> list[list[dict[str, Any]]]:
        """Each letter, and the probabilities that its instance bag shows the patterns."""
        extended = []
        for x in X:
            bags = self.found.pattern_probabilities(x)[1]
            extended.append(
                [{"letter": c, **{f"feature {i}": float(b[t]) for i, b in enumerate(bags)}} for t, c in enumerate(x)]
            )
        return extended


def candidates(order: int, bags: Iterable[int | str]) -> dict[str, dict[str, Model]]:
    """Return the models of an order, with each size of instance bags."""
    return {
        "search": {"": search(order)},
        "search, right to left": {"": search(order, direction="right-to-left")},
        "search, future features": {f"bag {b}": search(order, future=discoverer(b)) for b in bags},
        "search, future features, split": {f"bag {b}": SplitSearch(order, b) for b in bags},
        "FutureMEMM": {f"bag {b}": hr.FutureMEMM(order=order, bag=b, random_state=0, n_jobs=1) for b in bags},
    }


def accuracy(model: Model, part: Split) -> float:
    return percent(part.y, model.predict(part.X))


def print_set(title: str, train: Split, test: Split, orders: tuple[int, ...], bags: tuple[int | str, ...]) -> None:
    """Print the accuracy on test data, and on training data, of the best model of each kind and order."""
    kept, validation = next(iter(folds(train, 4)))
    cells: dict[str, list[str]] = {}
    for order in orders:
        for name, tried in candidates(order, bags).items():
            found = {bag: accuracy(model.fit(kept.X, kept.y), validation) for bag, model in tried.items()}
            chosen = max(found, key=lambda bag: found[bag])
            model = tried[chosen].fit(train.X, train.y)
            cell = f"{accuracy(model, test):.2f}", f"{accuracy(model, train):.2f}", chosen
            cells.setdefault(name, []).append(f"{cell[0]} ({', '.join(filter(None, cell[1:]))})")
            log(f"  {title}, {name}, order {order}: {cells[name][-1]}")
    rows = [[name, *found] for name, found in cells.items()]
    print_table([f"{title}: test (training)", *(f"order {order}" for order in orders)], rows)


def main() -> None:
    options = arguments(__doc__, SETS).parse_args()
    print_machine()
    if options.quick:
        train, test = (Split.of(hr.datasets.load("pronounce", split)) for split in ("train", "test"))
        print_set("Pronounce, small", train.select(range(60)), test.select(range(30)), (1,), (2,))
        return
    for name in options.tasks:
        train, test = (Split.of(hr.datasets.load(name, split)) for split in ("train", "test"))
        print_set(SETS[name], train, test, ORDERS, BAGS)


if __name__ == "__main__":
    main()
