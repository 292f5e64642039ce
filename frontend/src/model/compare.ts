/** Two runs, ledger by ledger: the differences add up to the difference of the walls. */

import type { RunReport } from "../api/types";
import { UNEXPLAINED } from "./causes";
import { HEALTHY, terms } from "./ledger";

export interface Difference {
  /** "healthy" or a cause id. */
  readonly id: string;
  /** Seconds in each run, in the order of the runs; a step's mean where their lengths differ. */
  readonly values: readonly number[];
  /** Last run less the first. */
  readonly difference: number;
  /** Beyond what two runs of the same program differ by. */
  readonly real: boolean;
}

export interface Comparison {
  readonly runs: readonly RunReport[];
  /** Runs of unequal length are compared by what a step takes. */
  readonly perStep: boolean;
  readonly rows: readonly Difference[];
  readonly total: Difference;
}

/** Runs of one program differ by about this share of their wall: below it is no difference. */
const RUN_TO_RUN = 0.02;

/** `runs` has at least two entries; the last is the one that is looked at. */
export function compare(runs: readonly RunReport[]): Comparison {
  const perStep = runs.some((run) => run.steps !== runs[0]?.steps);
  const scale = (run: RunReport, seconds: number): number =>
    perStep ? seconds / Math.max(1, run.steps) : seconds;
  const ledgers = runs.map((run) => new Map(terms(run).map((term) => [term.id, term.seconds])));
  const walls = runs.map((run) => scale(run, run.wall_seconds));
  const floor = RUN_TO_RUN * Math.min(...walls);
  const difference = (id: string, values: readonly number[]): Difference => {
    const change = (values.at(-1) ?? 0) - (values[0] ?? 0);
    return { id, values, difference: change, real: Math.abs(change) >= floor };
  };
  const ids = new Set(ledgers.flatMap((ledger) => [...ledger.keys()]));
  const rows = [...ids].map((id) =>
    difference(
      id,
      ledgers.map((ledger, index) => scale(runs[index] as RunReport, ledger.get(id) ?? 0)),
    ),
  );
  rows.sort((a, b) => place(a) - place(b) || Math.abs(b.difference) - Math.abs(a.difference));
  return { runs, perStep, rows, total: difference("run", walls) };
}

/** Healthy first, unexplained last, causes by how much they differ. */
const place = (row: Difference): number =>
  row.id === HEALTHY ? 0 : row.id === UNEXPLAINED ? 2 : 1;

/** What a difference means, in words. */
export function differenceReading(row: Difference): string {
  const before = row.values[0] ?? 0;
  const here = row.values.at(-1) ?? 0;
  if (!row.real) return "no difference beyond run-to-run variation (2 %)";
  if (row.id === HEALTHY) return here > before ? "more healthy time" : "less healthy time";
  if (before === 0) return "new in this run";
  if (here === 0) return "gone in this run";
  return here > before ? `${(here / before).toFixed(1)} times as much` : "less";
}
