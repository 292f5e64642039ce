/** The answers of the routes on captures. */

import type { Measured } from "../../base/numbers";
import type { SignalStatus } from "./report";

export type StepPart =
  | "tracing"
  | "compilation"
  | "input"
  | "copies"
  | "device"
  | "communication"
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

/** What one device does in the steps that are looked at and in which it works, in sum. */
export interface DeviceShare {
  readonly name: string;
  readonly steps: number;
  readonly seconds: number;
  readonly computes_seconds: number;
  /** While it computes nothing. */
  readonly communicates_seconds: number;
  /** While it does neither. */
  readonly copies_seconds: number;
  /** Communication while it computes. */
  readonly hidden_seconds: number;
}

export type CopyDirection = "host_to_device" | "device_to_host" | "within_device";

/** Copies one way, in the whole capture. */
export interface Copied {
  readonly calls: number;
  readonly seconds: number;
  /** null: the profiler did not record them. */
  readonly bytes: number | null;
}

export interface Capture {
  readonly id: string;
  readonly session: string;
  readonly host: string;
  readonly hosts: readonly string[];
  readonly devices: readonly string[];
  readonly events: number;
  readonly steps: {
    readonly by: "step_num" | "step_line" | "group_id" | "wall_clock" | "whole";
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
  readonly shares: readonly DeviceShare[];
  readonly copied: Readonly<Partial<Record<CopyDirection, Copied>>>;
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
