/** The answer of the route `retraces`. */

import type { Measured } from "../../base/numbers";
import type { SignalStatus } from "./report";

export interface RetraceChange {
  readonly argument: string;
  readonly what: string;
  readonly before: string;
  readonly after: string;
}

export interface RetraceExample {
  readonly row: number;
  readonly step: number;
  readonly seconds: number;
  readonly building_seconds: Measured;
  readonly execution_seconds: Measured;
  readonly operations: Measured;
  readonly changes: readonly RetraceChange[];
}

export interface RetraceGroup {
  readonly function: string;
  readonly location: string;
  readonly cause: string;
  readonly argument: string;
  readonly what: string;
  readonly count: number;
  readonly seconds: number;
  readonly first_step: number;
  readonly last_step: number;
  readonly fix: string;
  readonly jit_compile: boolean;
  readonly examples: readonly RetraceExample[];
  /** Seconds in 40 equal parts of the run. */
  readonly spark: readonly number[];
}

export interface Retraces {
  readonly status: { readonly status: SignalStatus; readonly reason: string };
  readonly watched: number;
  readonly seconds: number;
  readonly traces: number;
  readonly groups: readonly RetraceGroup[];
  /** Functions of tf.data and Keras that were traced more than once; in no sum. */
  readonly library: readonly RetraceGroup[];
}
