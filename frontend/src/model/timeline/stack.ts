/** Mean seconds per step by cause, one layer on the other: colored area = seconds lost. */

import type { Timeline } from "../../api/wire/timeline";
import type { Measured } from "../../base/numbers";
import { niceStep } from "../../base/ticks";
import { HEALTHY, UNEXPLAINED } from "../../catalog/causes";

export interface Layer {
  readonly id: string;
  /** Mean seconds per step in each bucket; unmeasured counts as no area. */
  readonly seconds: readonly number[];
}

const total = (seconds: readonly Measured[], weights: readonly number[]): number =>
  seconds.reduce<number>((sum, value, index) => sum + (value ?? 0) * (weights[index] ?? 1), 0);

/** Cause ids of a timeline by seconds lost, the most first, unexplained last. */
export function ranked(timeline: Timeline): string[] {
  const lost = Object.entries(timeline.lost)
    .map(([id, seconds]) => ({ id, seconds: total(seconds, timeline.count) }))
    .filter((entry) => entry.seconds > 0);
  lost.sort((a, b) => b.seconds - a.seconds);
  const ids = lost.map((entry) => entry.id);
  return ids.includes(UNEXPLAINED) ? [...ids.filter((id) => id !== UNEXPLAINED), UNEXPLAINED] : ids;
}

/** Bottom up: healthy, warm-up, then by rank, unexplained on top. */
export function layers(timeline: Timeline, rank: readonly string[], lostOnly: boolean): Layer[] {
  const order = ["warm_up", ...rank.filter((id) => id !== "warm_up" && id !== UNEXPLAINED)];
  const ids = [
    ...order.filter((id) => rank.includes(id)),
    ...rank.filter((id) => id === UNEXPLAINED),
  ];
  const layer = (id: string, seconds: readonly Measured[] = []): Layer => ({
    id,
    seconds: timeline.row.map((_, index) => Math.max(0, seconds[index] ?? 0)),
  });
  const stack = ids.map((id) => layer(id, timeline.lost[id]));
  return lostOnly ? stack : [layer(HEALTHY, timeline.healthy), ...stack];
}

/** The layers to show after a click on the legend; none stands for all. */
export function chosenLayers(shown: readonly string[], id: string, add: boolean): string[] {
  const others = shown.filter((one) => one !== id);
  const was = others.length < shown.length;
  if (add) return was ? others : [...shown, id];
  return was && others.length === 0 ? [] : [id];
}

/** Heights of the layers' tops in each bucket, cumulated. */
export function tops(stack: readonly Layer[]): number[][] {
  const heights: number[][] = [];
  stack.forEach((layer, level) => {
    const below = heights[level - 1];
    heights.push(layer.seconds.map((seconds, index) => seconds + (below?.[index] ?? 0)));
  });
  return heights;
}

/**
 * Where the axis ends: above 98% of the buckets, so that one slow step does not flatten the
 * rest (it is cut and marked), but never above what is there.
 */
export function ceiling(heights: readonly number[]): number {
  const sorted = heights.filter((height) => height > 0).sort((a, b) => a - b);
  const highest = sorted.at(-1);
  if (highest === undefined) return 1;
  const usual = sorted[Math.floor((sorted.length - 1) * 0.98)] ?? highest;
  const median = sorted[Math.floor((sorted.length - 1) * 0.5)] ?? highest;
  const end = Math.min(highest * 1.1, Math.max(usual * 1.25, median * 1.5));
  return Math.ceil(end / niceStep(end / 20)) * niceStep(end / 20);
}
