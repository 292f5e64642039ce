/** Rows, steps and moments of a timeline: from one to the other. */

import type { Timeline } from "../../api/wire/timeline";
import { bisectRight, indexAt, interpolate } from "../../base/numbers";

/** The borders between buckets (one more than there are buckets), and when each row ended. */
export interface Track {
  readonly rows: readonly number[];
  /** Unix seconds at each border. */
  readonly times: readonly number[];
  /** Step number at the first row of each bucket. */
  readonly steps: readonly number[];
  /** `step - row` where it is the same all along; undefined for a resumed or gappy run. */
  readonly offset: number | undefined;
  readonly stepsPerRow: number;
  readonly knotRows: readonly number[];
  readonly knotTimes: readonly number[];
}

export function trackOf(timeline: Timeline): Track {
  const rows = [...timeline.row, timeline.last + 1];
  const offset = (timeline.step[0] ?? 0) - (timeline.row[0] ?? 0);
  const steady = timeline.step.every((step, index) => step - (timeline.row[index] ?? 0) === offset);
  const knotRows = [rows[0] ?? 0, ...timeline.row.map((row) => row + 1), timeline.last + 1];
  const knotTimes = ascending([startTime(timeline), ...timeline.time, endTime(timeline)]);
  return {
    rows,
    times: rows.map((row) => interpolate(knotRows, knotTimes, row)),
    steps: timeline.step,
    offset: steady && timeline.steps_per_row === 1 ? offset : undefined,
    stepsPerRow: timeline.steps_per_row,
    knotRows,
    knotTimes,
  };
}

/** `time` is when the first step of a bucket ended, so the very first one began before it. */
function startTime(timeline: Timeline): number {
  const [ended = 0, next] = timeline.time;
  const bucketSeconds = (timeline.step_seconds.mean[0] ?? 0) * (timeline.count[0] ?? 1);
  if ((timeline.count[0] ?? 1) <= 1 || next === undefined) {
    return ended - (timeline.step_seconds.mean[0] ?? 0);
  }
  const others = next - ended - (timeline.step_seconds.median[1] ?? 0);
  return ended - Math.max(0, bucketSeconds - others);
}

function endTime(timeline: Timeline): number {
  const last = timeline.row.length - 1;
  const rest = (timeline.count[last] ?? 1) - 1;
  return (timeline.time[last] ?? 0) + (timeline.step_seconds.mean[last] ?? 0) * rest;
}

/** Clocks may stand still or be set back: a time axis needs moments that do not fall. */
function ascending(times: number[]): number[] {
  let floor = Number.NEGATIVE_INFINITY;
  return times.map((time) => {
    floor = Math.max(floor, time);
    return floor;
  });
}

export const timeOfRow = (track: Track, row: number): number =>
  interpolate(track.knotRows, track.knotTimes, row);

export const rowOfTime = (track: Track, time: number): number =>
  interpolate(track.knotTimes, track.knotRows, time);

/** The number that the user's program gave the step of a row; between bucket borders, counted on. */
export function stepOfRow(track: Track, row: number): number {
  const whole = Math.floor(row);
  if (track.offset !== undefined) return whole + track.offset;
  const bucket = Math.min(track.steps.length - 1, indexAt(track.rows, whole));
  return (track.steps[bucket] ?? 0) + (whole - (track.rows[bucket] ?? 0)) * track.stepsPerRow;
}

/** The first row whose step is at least `step`; exact where steps count without gaps. */
export function rowOfStep(track: Track, step: number): number {
  const first = track.rows[0] ?? 0;
  const last = (track.rows.at(-1) ?? 1) - 1;
  if (track.offset !== undefined) return Math.min(last, Math.max(first, step - track.offset));
  const bucket = track.steps.findIndex((start, index) => {
    const next = track.steps[index + 1];
    return start <= step && (next === undefined || step < next);
  });
  if (bucket < 0) return step < (track.steps[0] ?? 0) ? first : last;
  const beyond = Math.floor((step - (track.steps[bucket] ?? 0)) / track.stepsPerRow);
  const row = (track.rows[bucket] ?? 0) + beyond;
  return Math.min((track.rows[bucket + 1] ?? last + 1) - 1, row);
}

/** The bucket that holds a row. */
export const bucketOfRow = (track: Track, row: number): number =>
  Math.min(track.rows.length - 2, Math.max(0, bisectRight(track.rows, row) - 1));
