/** What a selection of a timeline comes to. */

import type { Source } from "../../api/wire/report";
import type { Timeline } from "../../api/wire/timeline";
import type { Measured } from "../../base/numbers";
import { ranked } from "./stack";
import { span, type Window } from "./window";

export interface SelectionSums {
  readonly steps: number;
  readonly meanSeconds: number;
  /** Steps of which `meanSeconds` is the mean: more than one where rows are sums of several. */
  readonly meanSteps: number;
  /** What was lost, the largest first. */
  readonly lost: readonly { readonly id: string; readonly seconds: number }[];
}

/** A row of several steps is their sum, or their mean where it is drawn from scalars. */
export function sumsOf(data: Timeline, selection: Window, source: Source): SelectionSums {
  const buckets = data.row.flatMap((row, index) => {
    const end = Math.min(selection.to, row + (data.count[index] ?? 1));
    const rows = end - Math.max(selection.from, row);
    return rows > 0 ? [{ index, rows }] : [];
  });
  const total = (series: readonly Measured[] = []): number =>
    buckets.reduce((sum, { index, rows }) => sum + rows * (series[index] ?? 0), 0);
  const times = source === "scalars" ? data.steps_per_row : 1;
  return {
    steps: span(selection) * data.steps_per_row,
    meanSeconds: total(data.step_seconds.mean) / span(selection),
    meanSteps: data.steps_per_row / times,
    lost: ranked(data)
      .map((id) => ({ id, seconds: times * total(data.lost[id]) }))
      .filter(({ seconds }) => seconds > 0)
      .sort((a, b) => b.seconds - a.seconds),
  };
}
