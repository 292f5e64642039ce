/** What a step takes at the end of a run. */

import type { Timeline } from "../api/wire/timeline";

const SHARE = 0.05;
const LEAST_ROWS = 20;

export interface Recent {
  readonly seconds: number;
  readonly rows: number;
}

/** The median over the last twentieth of the run, at least 20 steps; undefined in shorter runs. */
export function recentMedian(timeline: Timeline): Recent | undefined {
  if (timeline.rows < 5 * LEAST_ROWS || timeline.last + 1 < timeline.rows) return undefined;
  const wanted = Math.max(LEAST_ROWS, timeline.rows * SHARE);
  const medians: number[] = [];
  let rows = 0;
  for (let index = timeline.row.length - 1; index >= 0 && rows < wanted; index--) {
    const median = timeline.step_seconds.median[index];
    if (median === null || median === undefined) continue;
    medians.push(median);
    rows += timeline.count[index] ?? 1;
  }
  medians.sort((a, b) => a - b);
  const middle = medians[medians.length >> 1];
  return middle === undefined ? undefined : { seconds: middle, rows };
}
