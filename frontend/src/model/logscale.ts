/** The logarithmic axis of the step times. */

import type { Timeline } from "../api/types";

export interface LogScale {
  readonly low: number;
  readonly high: number;
}

/** From the fastest to the slowest step, a little room on both sides, at least a factor of four. */
export function logScale(timeline: Timeline): LogScale {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const value of timeline.step_seconds.min) {
    if (value !== null && value > 0) low = Math.min(low, value);
  }
  for (const value of timeline.step_seconds.max) high = Math.max(high, value ?? 0);
  if (!(high > 0) || low === Number.POSITIVE_INFINITY) return { low: 0.1, high: 1 };
  return { low: low * 0.7, high: Math.max(high * 1.3, low * 4) };
}
