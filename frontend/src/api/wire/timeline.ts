/** The answer of the route `timeline`. */
import type { Measured } from "../../base/numbers";

export interface Mark {
  readonly row: number;
  readonly step: number;
  /** How many fell into the same bucket. */
  readonly count: number;
  readonly seconds: number;
}

export interface Epoch {
  readonly row: number;
  readonly step: number;
  readonly number: number;
}

/** Steps that are in no record: they lie between the row before and `row`. */
export interface Gap {
  readonly row: number;
  readonly steps: number;
  readonly after_step: number;
  readonly before_step: number;
  /** From the end of the step before to the start of the step after. */
  readonly seconds: number;
}

export interface ChangePoint {
  readonly row: number;
  readonly step: number;
  readonly text: string;
}

/** A note of the program on a step. */
export interface Annotation {
  readonly row: number;
  readonly step: number;
  readonly text: string;
}

export interface SignalSeries {
  readonly signal: string;
  readonly title: string;
  readonly unit: string;
  /** Counts up since the process began: only differences mean something. */
  readonly cumulative?: boolean;
  readonly row: readonly number[];
  readonly value: readonly Measured[];
}

/** Mean seconds a step in one account, bucket by bucket. */
export interface AccountSeries {
  readonly account: string;
  readonly title: string;
  readonly seconds: readonly Measured[];
}

export type MarkKind = "retraces" | "gc" | "checkpoints" | "captures";

export interface Timeline {
  readonly run: string;
  readonly rows: number;
  /** More than 1 in a run too long to be kept step by step: a row is so many steps. */
  readonly steps_per_row: number;
  readonly first: number;
  readonly last: number;
  readonly bucket_rows: number;
  readonly row: readonly number[];
  readonly step: readonly number[];
  readonly time: readonly number[];
  readonly count: readonly number[];
  readonly step_seconds: {
    readonly mean: readonly Measured[];
    readonly median: readonly Measured[];
    readonly min: readonly Measured[];
    readonly max: readonly Measured[];
  };
  readonly healthy: readonly Measured[];
  readonly lost: Readonly<Record<string, readonly Measured[]>>;
  /** Those in which the run spent any time, the most first. */
  readonly accounts: readonly AccountSeries[];
  readonly healthy_step_seconds: Measured;
  readonly epochs: readonly Epoch[];
  readonly annotations: readonly Annotation[];
  readonly gaps: readonly Gap[];
  readonly change_points: readonly ChangePoint[];
  readonly marks: Readonly<Record<MarkKind, readonly Mark[]>>;
  readonly signals: readonly SignalSeries[];
  readonly unmeasured: readonly { readonly signal: string; readonly reason: string }[];
}
