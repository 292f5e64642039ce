/** The line under the timeline that sums a selection up. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Timeline } from "../../api/wire/timeline";
import { ledgerSeconds, plural, signed, stepTime } from "../../base/format";
import type { Measured } from "../../base/numbers";
import { nameInText, UNEXPLAINED } from "../../catalog/causes";
import { changeText } from "../../model/changes/changed";
import { ranked } from "../../model/timeline/stack";
import { span } from "../../model/timeline/window";
import type { Page } from "../contract";

/** How many of what moved, and of what was lost, stand beside the selection. */
const FEW = 3;

/** What the selected steps take and lose, and what moved with them. */
export function selectionSummary(data: Timeline, page: Page): TemplateResult | typeof nothing {
  const { selection, changes, report } = page;
  if (selection === undefined) return nothing;
  const buckets = data.row.flatMap((row, index) => {
    const end = Math.min(selection.to, row + (data.count[index] ?? 1));
    const rows = end - Math.max(selection.from, row);
    return rows > 0 ? [{ index, rows }] : [];
  });
  const total = (series: readonly Measured[] = []): number =>
    buckets.reduce((sum, { index, rows }) => sum + rows * (series[index] ?? 0), 0);
  const { steps_per_row: stepsPerRow } = data;
  // A row of several steps is their sum, or their mean where it is drawn from scalars.
  const isSum = page.run.source === "records" && stepsPerRow > 1;
  const lost = ranked(data)
    .map((id) => ({ id, seconds: total(data.lost[id]) * (isSum ? 1 : stepsPerRow) }))
    .filter(({ seconds }) => seconds > 0)
    .sort((a, b) => b.seconds - a.seconds);
  const moved = (changes?.changes ?? []).filter(({ kind }) => kind === "changed");
  return html`<p class="tl-sum" role="status">Selected: <b>${plural(span(selection) * stepsPerRow, "step")}</b>, mean <b>${stepTime(total(data.step_seconds.mean) / span(selection))}</b>${isSum ? ` per ${stepsPerRow} steps` : ""}${lost
    .slice(0, FEW)
    .map(
      ({ id, seconds }) =>
        html`; ${ledgerSeconds(seconds, report?.wall_seconds)} ${id === UNEXPLAINED ? "unexplained" : `lost to ${nameInText(id)}`}`,
    )}.${
    moved.length > 0
      ? html` Moved: ${moved
          .slice(0, FEW)
          .map(
            ({ title, difference, unit, per_step }) =>
              `${title} ${signed(difference, (value) => changeText(value, unit, per_step))}`,
          )
          .join(
            "; ",
          )}. <button class="link" @click=${() => page.actions.goTo("changed")}>All changes</button>`
      : nothing
  }</p>`;
}
