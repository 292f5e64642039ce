/**
 * What travels, exactly as `tb_slowdown_plugin/server/http_api.md` describes it.
 *
 * `null` always means "not measured". A row is the index of a step in the order in which
 * steps ended; `step` is the number that the user's program gave it.
 */

export type Measured = number | null;

export interface Run {
  readonly run: string;
  readonly workers: number;
  readonly steps: number;
  readonly first_step: number | null;
  readonly last_step: number | null;
  /** Unix seconds. */
  readonly started: number | null;
  readonly reported: number | null;
  /** The last record is younger than 60 s. */
  readonly live: boolean;
  /** Of the report, null until it has been asked for once. */
  readonly verdict: Verdict | null;
  readonly lost_fraction: Measured;
}

export interface Runs {
  readonly runs: readonly Run[];
  /** Runs of the logdir without slowdown data. */
  readonly other_runs: number;
}

export type Verdict = "healthy" | "slow_start" | "slowdown" | "not_enough_steps";
export type Confidence = "high" | "medium" | "low";
export type Pattern =
  | "warm_up"
  | "flat"
  | "level_shift"
  | "drift"
  | "periodic"
  | "epoch_boundary"
  | "one_off";

export interface Advice {
  readonly text: string;
  /** Lines that begin with "+" are new, with "-" to be removed, others context. */
  readonly code: string;
  readonly price: string;
}

/** What one mechanism took of a warm-up. */
export interface CausePart {
  readonly part: string;
  readonly title: string;
  readonly lost_seconds: number;
  /** Step numbers, inclusive. */
  readonly steps: readonly [number, number];
  /** How the seconds are known, in words. */
  readonly known: string;
}

export interface Cause {
  readonly cause: string;
  readonly lost_seconds: number;
  readonly lost_fraction: number;
  readonly pattern: Pattern;
  readonly confidence: Confidence;
  /** Step numbers, inclusive. */
  readonly steps: readonly [number, number];
  readonly summary: string;
  readonly evidence: readonly string[];
  readonly advice: readonly Advice[];
  /** Of a warm-up, in order of time. */
  readonly parts: readonly CausePart[];
}

export interface Suspect {
  readonly cause: string;
  readonly seconds: number;
  readonly why: string;
}

/** One of several workers that train together as one run. */
export interface Worker {
  readonly worker: number;
  readonly steps: number;
  /** Median. */
  readonly step_seconds: Measured;
  /** How long it waited for others, and they for it. */
  readonly wait_seconds: Measured;
  readonly others_wait_seconds: Measured;
  readonly straggler: boolean;
}

export type SignalStatus = "measured" | "partly" | "unavailable" | "off" | "failed";

export interface SignalState {
  readonly signal: string;
  readonly status: SignalStatus;
  readonly reason: string;
}

export interface RunReport {
  readonly run: string;
  readonly verdict: Verdict;
  readonly headline: string;
  readonly steps: number;
  readonly wall_seconds: number;
  readonly healthy_step_seconds: Measured;
  readonly baseline: string;
  readonly lost_seconds: number;
  readonly lost_fraction: number;
  readonly unexplained_seconds: number;
  readonly causes: readonly Cause[];
  readonly suspects: readonly Suspect[];
  readonly workers: readonly Worker[];
  readonly signals: readonly SignalState[];
  readonly completeness: { readonly chunks: number; readonly missing_chunks: number };
  readonly notes?: readonly string[];
}

export interface Report {
  readonly schema: 1;
  readonly runs: readonly RunReport[];
}

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

export interface ChangePoint {
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
  readonly change_points: readonly ChangePoint[];
  readonly marks: Readonly<Record<MarkKind, readonly Mark[]>>;
  readonly signals: readonly SignalSeries[];
  readonly unmeasured: readonly { readonly signal: string; readonly reason: string }[];
}

export interface Spread {
  /** 10th percentile, median or mean, 90th percentile. */
  readonly low: number;
  readonly level: number;
  readonly high: number;
}

export interface Change {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  /** The unit is per step. */
  readonly per_step: boolean;
  readonly by: "median" | "mean";
  readonly before: Spread;
  readonly here: Spread;
  readonly difference: number;
  /** In usual variations; what ranks it. */
  readonly strength: number;
  /** "changed" differs, "trend" goes on as before, "same" does not differ. */
  readonly kind: "changed" | "trend" | "same";
  readonly reading: string;
}

/** Rows `first` to `last` against the four times longer stretch before them. */
export interface Changed {
  readonly run: string;
  readonly first: number;
  readonly last: number;
  readonly before_first: number;
  readonly before_last: number | null;
  readonly changes: readonly Change[];
}

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
}

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
}

export type StepPart =
  | "tracing"
  | "compilation"
  | "input"
  | "copies"
  | "device"
  | "compute"
  | "rest";

export interface CaptureEntry {
  /** Also the run's name in XProf. */
  readonly id: string;
  readonly session: string;
  readonly host: string;
  readonly hosts: readonly string[];
  readonly bytes: number;
  readonly started?: number;
  readonly seconds?: number;
  readonly first_row?: number | null;
  readonly last_row?: number | null;
  readonly first_step?: number | null;
  readonly last_step?: number | null;
  readonly step_seconds?: Measured;
  readonly adds?: readonly string[];
  readonly notes?: readonly string[];
  /** Why the monitor took it by itself. */
  readonly automatic: "steady" | "slower" | null;
  /** Why it can't be read. */
  readonly error?: string;
}

export interface CaptureList {
  readonly captures: readonly CaptureEntry[];
  readonly status: { readonly status: SignalStatus; readonly reason: string };
}

export interface CaptureItem {
  readonly kind: string;
  readonly part: StepPart;
  readonly name: string;
  readonly calls: number;
  readonly busy_seconds: number;
  readonly seconds: number;
}

export interface Capture {
  readonly id: string;
  readonly session: string;
  readonly host: string;
  readonly hosts: readonly string[];
  readonly devices: readonly string[];
  readonly events: number;
  readonly steps: {
    readonly by: "step_num" | "wall_clock" | "whole";
    readonly count: number;
    readonly number: readonly Measured[];
    readonly row: readonly Measured[];
    /** What a step is asked for by: its row, or its index where no step has a row. */
    readonly place: readonly Measured[];
    /** From the beginning of the capture. */
    readonly begin_seconds: readonly number[];
    readonly seconds: readonly number[];
    readonly parts: Readonly<Record<StepPart, readonly number[]>>;
  };
  /** First and last index of the steps that `items` is the mean of; null: all. */
  readonly chosen: readonly [number, number] | null;
  readonly items: readonly CaptureItem[];
  readonly adds: readonly string[];
  readonly notes: readonly string[];
}

/** Steps of a capture as one host saw them: those whose places are `first` to `last`, else all. */
export interface CapturePart {
  readonly host?: string;
  readonly first?: number;
  readonly last?: number;
}

export interface CaptureRow {
  readonly kind: string;
  readonly part: StepPart;
  readonly name: string;
  readonly fast_seconds: number;
  readonly slow_seconds: number;
  readonly fast_calls: number;
  readonly slow_calls: number;
  readonly difference: number;
  /** Of the steps that it took longest in. */
  readonly fast_place: number | null;
  readonly slow_place: number | null;
}

export interface CaptureComparison {
  readonly fast: string;
  readonly slow: string;
  readonly fast_seconds: number;
  readonly slow_seconds: number;
  readonly rows: readonly CaptureRow[];
  readonly headline: string;
}
