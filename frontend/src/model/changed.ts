/**
 * What changed here? A selection against the four times longer stretch before it, signal by
 * signal, ranked by how far the change goes beyond what was usual before.
 */

import type { Measured, Timeline } from "../api/types";
import { quantity, stepTime } from "../base/format";
import { causeKind, UNEXPLAINED } from "./causes";
import { laneOf } from "./lane";
import { median, quantile, sorted } from "./quantiles";
import { stepOfRow, trackOf } from "./track";
import type { Window } from "./window";

/** How much longer the stretch before is. */
const BEFORE = 4;
/** Fewer values than this on a side say nothing. */
const LEAST_VALUES = 3;
/** A change counts from this many usual variations on, and from this share of the level before. */
const BEYOND = 3;
const LEAST_SHARE = 0.02;

export interface Spread {
  readonly low: number;
  readonly median: number;
  readonly high: number;
}

export interface Change {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly before: Spread;
  readonly here: Spread;
  readonly difference: number;
  /** In usual variations; what ranks it. */
  readonly strength: number;
  /** "changed" differs, "trend" goes on as before, "same" does not differ. */
  readonly kind: "changed" | "trend" | "same";
  readonly reading: string;
}

export interface Changes {
  readonly selection: Window;
  readonly before: Window;
  readonly changes: readonly Change[];
}

/** The rows to ask the server for; undefined where nothing comes before the selection. */
export function stretchBefore(selection: Window): Window | undefined {
  const length = selection.to - selection.from;
  const from = Math.max(0, selection.from - BEFORE * length);
  return selection.from - from >= LEAST_VALUES ? { from, to: selection.from } : undefined;
}

/** `timeline` covers the stretch before and the selection, nothing else. */
export function changesOf(timeline: Timeline, before: Window, selection: Window): Changes {
  const step = (row: number): number => stepOfRow(trackOf(timeline), row);
  const changes = seriesOf(timeline)
    .map((series) => changeOf(series, selection, step))
    .filter((change) => change !== undefined)
    .sort((a, b) => RANK[a.kind] - RANK[b.kind] || b.strength - a.strength);
  return { selection, before, changes };
}

const RANK: Readonly<Record<Change["kind"], number>> = { changed: 0, trend: 1, same: 2 };

interface Series {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly row: readonly number[];
  readonly value: readonly Measured[];
}

function seriesOf(timeline: Timeline): Series[] {
  const { row } = timeline;
  const lost = Object.entries(timeline.lost)
    .filter(([, value]) => value.some((seconds) => seconds !== null && seconds > 0))
    .map(([id, value]) => ({
      id,
      title:
        id === UNEXPLAINED ? "Unexplained time" : `Lost to ${causeKind(id).name.toLowerCase()}`,
      unit: "seconds a step",
      row,
      value,
    }));
  return [
    {
      id: "step_time",
      title: "Step time",
      unit: "seconds a step",
      row,
      value: timeline.step_seconds.median,
    },
    ...lost,
    ...timeline.signals.map((signal) => {
      const lane = laneOf(signal);
      const unit = signal.cumulative ? `${lane.unit} a step` : lane.unit;
      return { id: lane.id, title: lane.fullTitle, unit, row: lane.row, value: lane.value };
    }),
  ];
}

function changeOf(
  series: Series,
  selection: Window,
  stepOf: (row: number) => number,
): Change | undefined {
  const at = series.row.findIndex((row) => row >= selection.from);
  const split = at < 0 ? series.row.length : at;
  const earlier = series.value.slice(0, split);
  const inside = series.value.slice(split);
  const [old, now] = [sorted(earlier), sorted(inside)];
  if (old.length < LEAST_VALUES || now.length < LEAST_VALUES) return undefined;
  const before = spread(old);
  const here = spread(now);
  const difference = here.median - before.median;
  const usual = variation(old, before.median);
  const strength = Math.abs(difference) / usual;
  const differs =
    strength >= BEYOND && Math.abs(difference) > LEAST_SHARE * Math.abs(before.median);
  const trend = differs && goesOn(series, split, here.median, difference);
  const kind = !differs ? "same" : trend ? "trend" : "changed";
  return {
    id: series.id,
    title: series.title,
    unit: series.unit,
    before,
    here,
    difference,
    strength,
    kind,
    reading: reading(kind, series, split, before, here, stepOf),
  };
}

const spread = (ascending: readonly number[]): Spread => ({
  low: quantile(ascending, 0.1),
  median: quantile(ascending, 0.5),
  high: quantile(ascending, 0.9),
});

/** Half the distance from the 10th to the 90th percentile, but never nothing. */
function variation(ascending: readonly number[], level: number): number {
  const half = (quantile(ascending, 0.9) - quantile(ascending, 0.1)) / 2;
  const largest = Math.max(...ascending.map(Math.abs), Math.abs(level));
  return Math.max(half / 1.28, 0.002 * largest, Number.EPSILON);
}

/**
 * Whether a straight line through the two halves of the stretch before leads to where the
 * signal is now, within half of the difference.
 */
function goesOn(series: Series, split: number, here: number, difference: number): boolean {
  const half = split >> 1;
  const first = median(series.value.slice(0, half));
  const second = median(series.value.slice(half, split));
  if (Number.isNaN(first) || Number.isNaN(second)) return false;
  const middle = (from: number, to: number): number => {
    const rows = series.row.slice(from, to);
    return ((rows[0] ?? 0) + (rows.at(-1) ?? 0)) / 2;
  };
  const rows = middle(half, split) - middle(0, half);
  if (rows <= 0 || Math.sign(second - first) !== Math.sign(difference)) return false;
  const slope = (second - first) / rows;
  const predicted = second + slope * (middle(split, series.row.length) - middle(half, split));
  return Math.abs(predicted - here) < 0.5 * Math.abs(difference);
}

function reading(
  kind: Change["kind"],
  series: Series,
  split: number,
  before: Spread,
  here: Spread,
  stepOf: (row: number) => number,
): string {
  if (kind === "same") return "within its usual variation";
  const rises = here.median > before.median;
  if (kind === "trend") return `${rises ? "grows" : "falls"} as it did before: nothing new here`;
  const inside = series.value.slice(split);
  const early = median(inside.slice(0, Math.max(2, Math.ceil(inside.length / 10))));
  const arrived = Math.abs(early - here.median) < Math.abs(early - before.median);
  const step = (series.row[split] ?? 0) | 0;
  const number = stepOf(step).toLocaleString("en-US");
  if (arrived) return before.median === 0 ? `begins at step ${number}` : `jumps at step ${number}`;
  return rises ? "rises inside the selection" : "falls inside the selection";
}

/** A value of a change in its unit. */
export function changeText(value: number, unit: string): string {
  if (unit === "seconds a step") return stepTime(value);
  const [plain, ...rest] = unit.split(" a step");
  return `${quantity(value, plain ?? "")}${rest.length > 0 ? " a step" : ""}`;
}
