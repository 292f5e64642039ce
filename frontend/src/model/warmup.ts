/** What the start cost, in order of time: steps in groups that double, as warm-up fades. */

import type { Timeline } from "../api/types";

export interface WarmUpPart {
  /** Rows, both inclusive. */
  readonly first: number;
  readonly last: number;
  /** More than healthy steps would have taken. */
  readonly seconds: number;
}

/** At most this many groups; what follows is in the last one. */
const MOST_PARTS = 9;

/** The group of a row: 0, 1, 2-3, 4-7, 8-15 and so on. */
const groupOf = (row: number): number =>
  Math.min(MOST_PARTS - 1, row < 1 ? 0 : 1 + Math.floor(Math.log2(row)));

/** The seconds of the cause `warm_up`; groups without any are left out. */
export function warmUpParts(timeline: Timeline): WarmUpPart[] {
  const lost = timeline.lost.warm_up ?? [];
  const parts = new Map<number, WarmUpPart>();
  timeline.row.forEach((row, index) => {
    const count = timeline.count[index] ?? 1;
    const seconds = (lost[index] ?? 0) * count;
    if (seconds <= 0) return;
    const group = groupOf(row);
    const part = parts.get(group);
    parts.set(group, {
      first: part?.first ?? row,
      last: row + count - 1,
      seconds: (part?.seconds ?? 0) + seconds,
    });
  });
  return [...parts.values()];
}
