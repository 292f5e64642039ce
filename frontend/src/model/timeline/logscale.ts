/** The logarithmic axis of the step times. */

import type { Timeline } from "../../api/wire/timeline";

export interface LogScale {
  readonly low: number;
  readonly high: number;
}

/** From the fastest to the slowest step of some buckets, a little room on both sides, at least a factor of four. */
export function logScale(timeline: Timeline, first = 0, last = timeline.row.length - 1): LogScale {
  const { min, max } = timeline.step_seconds;
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (let index = first; index <= last; index++) {
    const least = min[index] ?? 0;
    if (least > 0) low = Math.min(low, least);
    high = Math.max(high, max[index] ?? 0);
  }
  if (!(high > 0) || low === Number.POSITIVE_INFINITY) return { low: 0.1, high: 1 };
  return { low: low * 0.7, high: Math.max(high * 1.3, low * 4) };
}
