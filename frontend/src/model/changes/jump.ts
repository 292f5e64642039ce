/** From one change point to the next. */

import type { Timeline } from "../../api/wire/timeline";
import { clamped, type Window } from "../timeline/window";

const SELECTED_SHARE = 1 / 30;
const LEAST_SELECTED = 10;

export interface Jump {
  readonly selection: Window;
  /** The change with what came before it, four times as long. */
  readonly view: Window;
}

/** The first change point after (or last before) `row`; around the end it begins anew. */
export function nextChange(timeline: Timeline, direction: 1 | -1, row: number): Jump | undefined {
  const rows = timeline.change_points.map((change) => change.row).sort((a, b) => a - b);
  const target =
    direction > 0
      ? (rows.find((one) => one > row) ?? rows[0])
      : (rows.findLast((one) => one < row) ?? rows.at(-1));
  if (target === undefined) return undefined;
  const following = rows.find((one) => one > target) ?? timeline.rows;
  const wanted = Math.max(LEAST_SELECTED, Math.round(timeline.rows * SELECTED_SHARE));
  const width = Math.max(1, Math.min(wanted, following - target));
  return {
    selection: { from: target, to: target + width },
    view: clamped({ from: target - 5 * width, to: target + 5 * width }, timeline.rows),
  };
}
