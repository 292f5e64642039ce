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
  const old = sorted(series.value.slice(0, split));
  const now = sorted(series.value.slice(split));
  if (old.length < LEAST_VALUES || now.length < LEAST_VALUES) return undefined;
  const before = spread(old);
  const here = spread(now);
  const difference = here.median - before.median;
  const course = courseOf(series, split);
  const strength = Math.abs(difference) / course.variation;
  const differs =
    strength >= BEYOND && Math.abs(difference) > LEAST_SHARE * Math.abs(before.median);
  const surprise = Math.abs(here.median - course.predicted);
  const goesOn =
    course.slope !== 0 &&
    surprise < Math.max(0.25 * Math.abs(difference), BEYOND * course.variation);
  const kind = !differs ? "same" : goesOn ? "trend" : "changed";
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

interface Course {
  /** A row. */
  readonly slope: number;
  /** Where the line through the stretch before leads to in the selection. */
  readonly predicted: number;
  /** Usual variation around that line, never nothing. */
  readonly variation: number;
}

/** A line through the medians of the two halves of the stretch before. */
function courseOf(series: Series, split: number): Course {
  const { row, value } = series;
  const half = split >> 1;
  const level = (from: number, to: number): number => median(value.slice(from, to));
  const middle = (from: number, to: number): number =>
    ((row[from] ?? 0) + (row[Math.max(from, to - 1)] ?? 0)) / 2;
  const all = level(0, split);
  const rows = middle(half, split) - middle(0, half);
  const rise = level(half, split) - level(0, half);
  const slope = rows > 0 && !Number.isNaN(rise) ? rise / rows : 0;
  const around = sorted(
    value
      .slice(0, split)
      .map((one, index) =>
        one === null ? null : one - slope * ((row[index] ?? 0) - middle(0, split)),
      ),
  );
  const half90 = (quantile(around, 0.9) - quantile(around, 0.1)) / 2;
  const largest = Math.max(...around.map(Math.abs));
  return {
    slope,
    predicted: all + slope * (middle(split, row.length) - middle(0, split)),
    // 1.28: the 90th percentile of a normal distribution, in standard deviations.
    variation: Math.max(half90 / 1.28, 0.002 * largest, Number.EPSILON),
  };
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
