/** The range in view as numbers: for screen readers and for copying. */

import { html, nothing, type TemplateResult } from "lit-html";
import { range, stepTime } from "../../base/format";
import { causeKind } from "../../catalog/causes";
import { csv } from "../../charts/exports";
import { notesAt, type Scene } from "../../model/timeline/scene";
import { ranked } from "../../model/timeline/stack";
import { stepOfRow } from "../../model/timeline/track";
import type { Page } from "../contract";

export function timelineTable(detail: Scene, page: Page): TemplateResult {
  const { timeline: data, track } = detail;
  const inView = data.row
    .map((row, index) => ({ row, index, end: row + (data.count[index] ?? 1) }))
    .filter(({ row, end }) => end > page.view.from && row < page.view.to);
  const ids = ranked(data);
  const { mean, median, max } = data.step_seconds;
  return html`<div class="scroll tall" id="timeline-table" tabindex="0" role="region" aria-label="Timeline as a table"><table>
    <caption class="s q">Every range in view: mean seconds per step <button class="sm" @click=${(event: Event) => csv(event, page.run.title)}>CSV</button></caption>
    <thead><tr><th class="num">Steps</th>${[
      "Mean",
      "Median",
      "Slowest",
      "Healthy",
      ...ids.map((id) => causeKind(id).name),
    ].map(
      (title) => html`<th class="num" data-csv=${`${title} (s)`}>${title}</th>`,
    )}${data.annotations.length > 0 ? html`<th>Notes</th>` : nothing}</tr></thead>
    <tbody>${inView.map(
      ({ row, index, end }) => html`<tr>
        <td class="num">${range(stepOfRow(track, row), stepOfRow(track, end - 1))}</td>
        ${[mean, median, max, data.healthy, ...ids.map((id) => data.lost[id])].map((series) => {
          const seconds = series?.[index];
          return html`<td class="num" data-csv=${seconds ?? ""}>${stepTime(seconds)}</td>`;
        })}
        ${data.annotations.length > 0 ? html`<td>${notesAt(detail, index).join("; ")}</td>` : nothing}
      </tr>`,
    )}</tbody></table></div>`;
}
