/**
 * The answers of the routes `runs` and `report`. What travels stands in this folder, exactly as
 * `tb_slowdown_plugin/server/http_api.md` describes it.
 *
 * `null` always means "not measured". A row is the index of a step in the order in which
 * steps ended; `step` is the number that the user's program gave it.
 */
import type { Measured } from "../../base/numbers";
import type { Gap } from "./timeline";

export interface Run {
  readonly run: string;
  /** What a person calls it: another name than `run` where it lies at the top of the logdir. */
  readonly title: string;
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
  /** Whether the monitor recorded it, or its steps are drawn from ordinary scalars. */
  readonly source: Source;
}

/** How far the first look at a run has come. */
export interface Progress {
  /** Share of the records that is read, null before and after reading. */
  readonly read_fraction: number | null;
}

export interface Runs {
  readonly runs: readonly Run[];
  /** Runs of the logdir with neither records nor enough points of scalars. */
  readonly other_runs: number;
}

export type Source = "records" | "scalars";
export type Verdict = "healthy" | "slow_start" | "slowdown" | "not_enough_steps";
export type Judged = "whole" | "partly";
export type Confidence = "high" | "medium" | "low";
export type Pattern =
  | "warm_up"
  | "flat"
  | "level_shift"
  | "drift"
  | "periodic"
  | "epoch_boundary"
  | "one_off";

export type CodeKind = "patch" | "example";

export interface Advice {
  readonly text: string;
  /** Lines that begin with "+" are new, with "-" what they replace, others context. */
  readonly code: string;
  readonly price: string;
  /** Where in the reader's program the code belongs. */
  readonly where: string;
  /** Whose code it is: the reader's own line, or an example with names of its own. */
  readonly kind: CodeKind;
  /** Of a patch: see `OwnLines`. */
  readonly lines?: readonly number[];
  readonly open?: string;
}

/** The reader's own lines at the place of a cause; only the page gets them. */
export interface OwnLines {
  readonly where: string;
  readonly code: string;
  /** The line of the file at which each piece of the code begins. */
  readonly lines: readonly number[];
  /** What opens the place in an editor, empty where that is switched off. */
  readonly open?: string;
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

/** One experiment with its result. */
export interface Trial {
  readonly experiment: string;
  /** In words, without a capital and a period. */
  readonly text: string;
}

export interface Cause {
  readonly cause: string;
  /** Its place among those of the same id, 1 for the costliest. */
  readonly rank?: number;
  /** As it stands in a headline: "the Plots callback". */
  readonly subject?: string;
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
  /** Other processes took the time. */
  readonly external?: boolean;
  /** The experiment of `tbslow try` that says most of it. */
  readonly confirmed?: Trial | null;
  readonly source?: OwnLines | null;
}

export interface Suspect {
  readonly cause: string;
  readonly seconds: number;
  readonly why: string;
}

/** One of several workers that train together as one run. */
export interface Worker {
  readonly worker: number;
  /** What its own page is asked for by. */
  readonly run: string;
  readonly steps: number;
  /** Median. */
  readonly step_seconds: Measured;
  /** How long it waited for others, and they for it. */
  readonly wait_seconds: Measured;
  readonly others_wait_seconds: Measured;
  /** Steps in which it arrived last and the others waited notably, and how many in a row. */
  readonly last_steps: Measured;
  readonly last_in_a_row: Measured;
  readonly host_class: string | null;
  /** The same in words. */
  readonly reading: string;
  readonly straggler: boolean;
}

export type SignalStatus = "measured" | "partly" | "unavailable" | "off" | "failed";

export interface SignalState {
  readonly signal: string;
  readonly status: SignalStatus;
  readonly reason: string;
}

/** Seconds of a live run above its baseline whose cause is not confirmed yet. */
export interface Confirming {
  /** Part of `unexplained_seconds`. */
  readonly seconds: number;
  readonly since_step: number;
  /** How much longer a step takes since then. */
  readonly growth_fraction: Measured;
  /** Cause id. */
  readonly candidate: string | null;
  /** About the step by which they are confirmed or withdrawn. */
  readonly decided_step: number;
  readonly text: string;
}

/** The pattern that holds most of the unexplained seconds. */
export interface Unexplained {
  readonly pattern: Pattern;
  readonly steps: readonly [number, number];
  readonly text: string;
}

/** How much of a step one line of the program has, by samples of the training thread. */
export interface PythonLine {
  readonly place: string;
  /** "agent.py:88", "" where the place has none. */
  readonly location: string;
  /** Of the first samples; null where there is one set only. */
  readonly before_fraction: Measured;
  readonly after_fraction: number;
  /** Of a step. */
  readonly before_seconds: Measured;
  readonly after_seconds: number;
}

export interface PythonLines {
  readonly before_steps: readonly [number, number] | null;
  readonly before_samples: number;
  readonly after_steps: readonly [number, number];
  readonly after_samples: number;
  /** The largest growth first. */
  readonly lines: readonly PythonLine[];
}

/** What is known about unexplained time that is the largest part of the loss. */
export interface Investigation {
  readonly moved: readonly string[];
  readonly unmoved: readonly string[];
  readonly advice: readonly Advice[];
}

export interface Remaining {
  readonly steps: number;
  readonly seconds: number;
  /** Part of it: what the losses that last cost until the end. */
  readonly lost_seconds: number;
  readonly text: string;
}

export interface RestartingGrowth {
  readonly cycles: number;
  /** Of a cycle. */
  readonly steps: number;
  readonly first_seconds: number;
  readonly last_seconds: number;
  /** Beyond the first steps of each cycle. */
  readonly above_seconds: number;
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
  readonly completeness: {
    readonly chunks: number;
    readonly missing_chunks: number;
    /** At most 100 of them. */
    readonly gaps: readonly Gap[];
  };
  readonly notes?: readonly string[];
  readonly confirming?: Confirming | null;
  /** The last step that was judged: all figures and sentences are of the steps up to it. */
  readonly as_of?: { readonly step: number; readonly ended: number } | null;
  /** The median of the last steps, and how many they are. */
  readonly recent?: { readonly seconds: number; readonly steps: number } | null;
  /** Of steps that take longer and longer within a cycle, and start over with the next. */
  readonly restarting_growth?: RestartingGrowth | null;
  /** Whether steps keep their pace: none were found to take longer, lost or not. */
  readonly steady?: boolean;
  readonly unexplained?: Unexplained | null;
  /** "partly": much of the time passed where no collector could look. */
  readonly judged?: Judged;
  /** Where that was and why, a sentence each. */
  readonly blind_spots?: readonly string[];
  readonly source?: Source;
  /** What it still takes, where the program says how many steps there are. */
  readonly remaining?: Remaining | null;
  /** What counts as a step, where `tbslow run` found it out. */
  readonly step_rule?: string | null;
  readonly python?: PythonLines | null;
  readonly investigation?: Investigation | null;
  readonly settings?: readonly { readonly name: string; readonly value: string | number }[];
}

export interface Report {
  readonly schema: 1;
  readonly runs: readonly RunReport[];
}
