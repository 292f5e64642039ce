/** What the timeline draws for one view: everything but pixels of colour. */

import type { MarkKind, Timeline } from "../../api/wire/timeline";
import { count } from "../../base/format";
import { elapsed, niceTicks, timeTicks } from "../../base/ticks";
import { accountLane, type Lane, laneOf } from "./lane";
import { type LogScale, logScale } from "./logscale";
import { ceiling, type Layer, layers, tops } from "./stack";
import {
  bucketOfRow,
  rowOfStep,
  rowOfTime,
  stepOfRow,
  type Track,
  timeOfRow,
  trackOf,
} from "./track";
import type { Window } from "./window";

export type Axis = "steps" | "time";

/** Data of a timeline as the charts need them; made once per answer. */
export interface Scene {
  readonly timeline: Timeline;
  readonly track: Track;
  readonly layers: readonly Layer[];
  /** Ids of all layers, also of those that are hidden. */
  readonly legend: readonly string[];
  readonly tops: readonly (readonly number[])[];
  /** Where the axis of the stack ends, and the axis of the step times. */
  readonly top: number;
  readonly log: LogScale;
  readonly lanes: readonly Lane[];
}

export function sceneOf(
  timeline: Timeline,
  rank: readonly string[],
  lostOnly: boolean,
  only: readonly string[] = [],
): Scene {
  const all = layers(timeline, rank, lostOnly);
  const chosen = all.filter(({ id }) => only.includes(id));
  const stack = chosen.length > 0 ? chosen : all;
  const heights = tops(stack);
  return {
    timeline,
    track: trackOf(timeline),
    layers: stack,
    legend: all.map(({ id }) => id),
    tops: heights,
    top: ceiling(heights.at(-1) ?? []),
    log: logScale(timeline),
    lanes: [
      ...timeline.accounts.map((account) => accountLane(account, timeline)),
      ...timeline.signals.map(laneOf),
    ],
  };
}

/** The same scene with its axes fitted to what is in view. */
export function inView(scene: Scene, view: Window): Scene {
  const first = bucketOfRow(scene.track, view.from);
  const last = bucketOfRow(scene.track, view.to - 1e-6);
  if (first === 0 && last === scene.timeline.row.length - 1) return scene;
  const heights = (scene.tops.at(-1) ?? []).slice(first, last + 1);
  return { ...scene, top: ceiling(heights), log: logScale(scene.timeline, first, last) };
}

/** From rows to horizontal pixels and back, for one view and width. */
export class Projection {
  readonly low: number;
  readonly high: number;

  constructor(
    readonly track: Track,
    readonly view: Window,
    readonly axis: Axis,
    readonly width: number,
  ) {
    this.low = this.place(view.from);
    this.high = Math.max(this.low + 1e-9, this.place(view.to));
  }

  /** Where a row lies on the axis: its number, or its moment in Unix seconds. */
  place(row: number): number {
    return this.axis === "steps" ? row : timeOfRow(this.track, row);
  }

  x(row: number): number {
    return ((this.place(row) - this.low) / (this.high - this.low)) * this.width;
  }

  row(x: number): number {
    const place = this.low + (x / this.width) * (this.high - this.low);
    return this.axis === "steps" ? place : rowOfTime(this.track, place);
  }
}

export interface AxisTick {
  readonly x: number;
  readonly text: string;
}

/** Round step numbers, or round moments since the run began. */
const ascends = (steps: readonly number[]): boolean =>
  steps.every((step, index) => index === 0 || step > (steps[index - 1] ?? 0));

export function axisTicks(projection: Projection, start: number): AxisTick[] {
  const { track, view, width } = projection;
  if (view.to - view.from <= 1) {
    return [{ x: width / 2, text: count(stepOfRow(track, view.from)) }];
  }
  const wanted = Math.max(2, width / 110);
  if (projection.axis === "time") {
    const ticks = timeTicks(projection.low - start, projection.high - start, wanted);
    const step = (ticks[1] ?? 1) - (ticks[0] ?? 0);
    return ticks.map((seconds) => ({
      x: projection.x(rowOfTime(track, start + seconds)),
      text: elapsed(seconds, step),
    }));
  }
  const offset = track.offset;
  if (offset === undefined && ascends(track.steps)) {
    const [low, high] = [stepOfRow(track, view.from), stepOfRow(track, view.to - 1)];
    return niceTicks(low, high, wanted)
      .filter(Number.isInteger)
      .map((step) => ({ step, row: rowOfStep(track, step) }))
      .filter(({ step, row }) => step - stepOfRow(track, row) < track.stepsPerRow) // else in a gap
      .map(({ step, row }) => ({ x: projection.x(row), text: count(step) }));
  }
  if (offset === undefined) {
    return niceTicks(view.from, view.to, wanted)
      .filter(Number.isInteger)
      .map((row) => ({ x: projection.x(row), text: count(stepOfRow(track, row)) }));
  }
  return niceTicks(view.from + offset, view.to - 1 + offset, wanted)
    .filter(Number.isInteger)
    .map((step) => ({ x: projection.x(step - offset), text: count(step) }));
}

export interface LayerLabel {
  readonly layer: number;
  readonly x: number;
  /** Seconds a step at the middle of the layer there. */
  readonly seconds: number;
}

/**
 * Where the name of each layer fits inside it: the middle of its longest stretch in which it is
 * at least `leastPixels` high, if that is wider than `widths[layer]`.
 */
export function layerLabels(
  scene: Scene,
  projection: Projection,
  heightPixels: number,
  widths: readonly number[],
  leastPixels: number,
): LayerLabel[] {
  const labels: LayerLabel[] = [];
  const borders = scene.track.rows.map((row) => projection.x(row));
  const clip = (x: number): number => Math.min(projection.width, Math.max(0, x));
  scene.layers.forEach((layer, level) => {
    const below = scene.tops[level - 1];
    let begin = -1;
    let best: readonly [number, number] = [0, 0];
    for (let index = 0; index <= layer.seconds.length; index++) {
      const low = Math.min(scene.top, below?.[index] ?? 0);
      const high = Math.min(scene.top, (scene.tops[level] as number[])[index] ?? 0);
      const thick = ((high - low) / scene.top) * heightPixels >= leastPixels;
      if (thick && index < layer.seconds.length) {
        if (begin < 0) begin = index;
        continue;
      }
      if (begin < 0) continue;
      const stretch = [clip(borders[begin] ?? 0), clip(borders[index] ?? 0)] as const;
      if (stretch[1] - stretch[0] > best[1] - best[0]) best = stretch;
      begin = -1;
    }
    if (best[1] - best[0] < (widths[level] ?? 0)) return;
    const x = (best[0] + best[1]) / 2;
    const bucket = scene.track.rows.findLastIndex((row) => projection.x(row) <= x);
    const floor = below?.[bucket] ?? 0;
    labels.push({ layer: level, x, seconds: floor + (layer.seconds[bucket] ?? 0) / 2 });
  });
  return labels;
}

export const MARKS: readonly {
  readonly kind: MarkKind;
  readonly title: string;
  readonly cause: string;
}[] = [
  { kind: "retraces", title: "Retraces", cause: "retracing" },
  { kind: "checkpoints", title: "Checkpoints", cause: "checkpointing" },
  { kind: "gc", title: "GC pauses", cause: "garbage_collection" },
  { kind: "captures", title: "Profiler captures", cause: "profiling" },
];

/** The notes on the steps of a bucket. */
export function notesAt({ timeline, track }: Scene, bucket: number): string[] {
  const [from = 0, to = 0] = track.rows.slice(bucket, bucket + 2);
  return timeline.annotations.filter(({ row }) => row >= from && row < to).map(({ text }) => text);
}

export interface CursorLine {
  readonly id: string;
  readonly seconds: number;
}

/** What lies at a bucket: layers that cost something there, the largest first, healthy last. */
export function atBucket(scene: Scene, bucket: number): CursorLine[] {
  const lost = Object.entries(scene.timeline.lost)
    .map(([id, seconds]) => ({ id, seconds: seconds[bucket] ?? 0 }))
    .filter((line) => line.seconds >= 5e-7)
    .sort((a, b) => b.seconds - a.seconds);
  return [...lost, { id: "healthy", seconds: scene.timeline.healthy[bucket] ?? 0 }];
}
