"""How much test accuracy on proteins changes when every tree has a few leaves more or less.

The published algorithm with marginal decoding. The script looks at test data, to judge how exact a reproduction can be;
nothing is chosen from it.

python experiments/protein_sensitivity.py
"""

from __future__ import annotations

import hedgerow as hr
from common import QUICK, TASKS, accuracy_by_round, arguments, log, print_machine, print_table, train_test_pairs

LAMBDAS = (20.0, 40.0, 80.0)
LEAVES = (90, 95, 100, 105, 110)
PUBLISHED_ROUNDS = 142


def main() -> None:
    options = arguments(__doc__, ["protein"]).parse_args()
    print_machine()
    task, n_rounds, many = (QUICK, 4, (4, 5)) if options.quick else (TASKS["protein"], PUBLISHED_ROUNDS, LEAVES)
    ((train, test),) = train_test_pairs(task)
    rows = []
    for l2 in LAMBDAS:
        log(f"λ {l2:g}")
        models = [hr.TreeCRF.published(l2=l2, max_leaves=n, window=task.window, n_jobs=1) for n in many]
        curves = [100 * accuracy_by_round(model, n_rounds, train, test)["marginal"] for model in models]
        last, top = [curve[-1] for curve in curves], [curve.max() for curve in curves]
        rows.append(
            [
                f"{l2:g}",
                *(f"{value:.2f}" for value in last),
                f"{min(last):.2f} to {max(last):.2f}",
                f"{min(top):.2f} to {max(top):.2f}",
            ]
        )
    head = ["λ", *(f"{n} leaves" for n in many), f"after {n_rounds} rounds", "highest of the curve"]
    print_table(head, rows)


if __name__ == "__main__":
    main()
