/** The answer of the route `all_runs`: what was found in each run so far. */

import type { Measured } from "../../base/numbers";
import type { Judged, Verdict } from "./report";

export type Setting = string | number | boolean;

/** What a table says of one run. */
export interface RunDigest {
  readonly verdict: Verdict;
  readonly judged: Judged;
  readonly headline: string;
  readonly lost_seconds: number;
  readonly lost_fraction: number;
  readonly wall_seconds: number;
  /** Id of what cost most, null where nothing was lost. */
  readonly cause: string | null;
  /** The same as it stands in a headline. */
  readonly subject: string;
  readonly causes: readonly string[];
  readonly since_step: number | null;
  readonly since_seconds: Measured;
  readonly steps: number;
  /** Median. */
  readonly step_seconds: Measured;
  readonly steps_per_second: Measured;
  readonly items_per_second: Measured;
  readonly started: number | null;
  readonly ended: number | null;
  /** Median step seconds of equal parts of the run. */
  readonly spark: readonly number[];
  readonly settings: Readonly<Record<string, Setting>>;
}

export interface JudgedRun {
  readonly run: string;
  /** Why there is no digest, "" if there is one. */
  readonly error: string;
  readonly hyperparameters: Readonly<Record<string, Setting>>;
  readonly digest: RunDigest | null;
}

export interface AllRuns {
  readonly store: string;
  readonly number: number;
  readonly judged: number;
  readonly of: number;
  /** Those that are new since the answer that was named. */
  readonly rows: readonly JudgedRun[];
}
