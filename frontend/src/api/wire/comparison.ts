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
  /** What differs in configuration and environment. */
  readonly settings?: readonly {
    readonly name: string;
    readonly base: string;
    readonly other: string;
  }[];
  /** Why causes differ, where the records tell it. */
  readonly reasons?: readonly string[];
}

/** Several runs in columns: lists have one item a run, null for the first one's differences. */
export interface SideBySide {
  readonly schema: 1;
  readonly unit: "step" | "item";
  readonly runs: readonly string[];
  readonly settings: readonly { readonly name: string; readonly values: readonly string[] }[];
  readonly terms: readonly {
    readonly term: string;
    readonly seconds: readonly number[];
    readonly differences: readonly (Difference | null)[];
  }[];
  readonly step_seconds: readonly number[];
  readonly totals: readonly (Difference | null)[];
  readonly warm_up_seconds: readonly number[];
  readonly headlines: readonly string[];
  readonly reasons: readonly (readonly string[])[];
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
