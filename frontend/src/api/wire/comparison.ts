/** The answer of the route `compare`. */
import type { Measured } from "../../base/numbers";

export type Outcome = "slower" | "faster" | "moved" | "no_difference" | "not_enough_repeats";

/** Seconds a step (or an item). */
export interface Difference {
  readonly term: string;
  readonly base_seconds: number;
  readonly with_seconds: number;
  readonly difference_seconds: number;
  readonly interval_seconds: readonly [number, number];
  /** Of the base's whole step. */
  readonly fraction: number;
  readonly outcome: Outcome;
}

/** What differs between two groups of runs by more than chance. */
export interface RunComparison {
  readonly schema: 1;
  readonly headline: string;
  readonly base: readonly string[];
  readonly other: readonly string[];
  readonly unit: "step" | "item";
  readonly outcome: Outcome;
  readonly total: Difference;
  /** The faster half of the steps. */
  readonly quiet: Difference;
  readonly terms: readonly Difference[];
  readonly warm_up: Difference;
  /** Standard deviation between repeats, of the step; null without repeats. */
  readonly spread_fraction: Measured;
  /** Runs a side that would tell; null where it is told. */
  readonly repeats_wanted: number | null;
  readonly notes: readonly string[];
  /** What came back with each cause, or is lost now. */
  readonly changes?: readonly CauseChange[];
}

/** What one cause cost a run before and costs it now. */
export interface CauseChange {
  readonly cause: string;
  /** Events of a run, such as retraces; null where the cause has none. */
  readonly before: Measured;
  readonly now: Measured;
  /** That came back, in as many steps as a run had before. */
  readonly seconds: number;
  /** The same in words. */
  readonly text: string;
}
