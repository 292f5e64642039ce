"""How often `tbslow compare` is wrong: false alarms of equal programs, and what it finds.

    python -m benchmarks.comparison [--pairs 4000] [--seed 11]

The constants of `analysis/compare/run_noise.py` were chosen on other draws (seed 7 and before).
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from typing import Final

from benchmarks.comparison.drawn import count_outcomes

SPREADS: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.07, 0.1)
REPEATS: Final = (1, 2, 3, 5)
SLOWER: Final = (0.0, 0.1, 0.2)


def main() -> None:
    """Prints a row each for a spread and a number of repeats a side."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison")
    parser.add_argument("--pairs", type=int, default=4_000)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    cells = list(product(SPREADS, REPEATS))
    print("of 1,000:                alarms  +10 % +20 % found")
    with ProcessPoolExecutor(options.processes) as processes:
        rows = [
            [
                processes.submit(
                    count_outcomes, options.pairs, repeats, spread, slower, options.seed
                )
                for slower in SLOWER
            ]
            for spread, repeats in cells
        ]
        for (spread, repeats), (equal, *slower) in zip(cells, rows, strict=True):
            alarms = equal.result()["slower"] + equal.result()["faster"]
            found = [each.result()["slower"] for each in slower]
            told = "".join(f"{1000 * n / options.pairs:8.1f}" for n in (alarms, *found))
            print(f"spread {spread:4.0%}, {repeats} a side {told}", flush=True)


if __name__ == "__main__":
    main()
