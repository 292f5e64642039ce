/** What the start cost, in order of time. */

import { html, type TemplateResult } from "lit-html";
import type { RunReport, Timeline } from "../api/types";
import { ledgerSeconds, range } from "../base/format";
import { rowOfStep, stepOfRow, type Track, trackOf } from "../model/track";
import { type WarmUpPart, warmUpParts } from "../model/warmup";
import { sealed } from "./panel";
import { prose } from "./parts";

interface Start {
  readonly report: RunReport;
  readonly timeline: Timeline;
}

export const warmup = sealed<Start>({
  id: "warmup",
  title: "Warm-up account",
  half: true,
  load: async (source) => {
    const [report, whole] = await Promise.all([source.report(), source.timeline()]);
    const cause = report.causes.find((one) => one.cause === "warm_up");
    const last = cause === undefined ? 0 : rowOfStep(trackOf(whole), cause.steps[1]);
    return { report, timeline: await source.beginning(last) };
  },
  view: ({ report, timeline }) => {
    const cause = report.causes.find((one) => one.cause === "warm_up");
    const parts = warmUpParts(timeline);
    if (parts.length === 0) {
      return { body: html`<p class="empty">The first steps took as long as healthy ones.</p>` };
    }
    const track = trackOf(timeline);
    const wall = report.wall_seconds;
    const total = parts.reduce((sum, part) => sum + part.seconds, 0);
    const last = parts.at(-1)?.last ?? 0;
    return {
      note: `${ledgerSeconds(total, wall)} more than healthy in ${last > 0 ? "steps" : "step"} ${range(stepOfRow(track, 0), stepOfRow(track, last))}`,
      body: html`${table(parts, total, wall, track)}
        <ul class="bullets">${(cause?.evidence ?? []).map((sentence) => html`<li>${prose(sentence)}</li>`)}</ul>`,
    };
  },
});

function table(
  parts: readonly WarmUpPart[],
  total: number,
  wall: number,
  track: Track,
): TemplateResult {
  let before = 0;
  const first = parts[0];
  return html`<div class="scroll"><table>
    <thead><tr><th>Steps</th><th class="num">More than healthy</th><th class="c45">In order of time, 0 to ${ledgerSeconds(total, wall)}</th></tr></thead>
    <tbody>${parts.map((part) => {
      const left = (100 * before) / total;
      before += part.seconds;
      return html`<tr><td>${range(stepOfRow(track, part.first), stepOfRow(track, part.last))}</td>
        <td class="num">${ledgerSeconds(part.seconds, wall)}</td>
        <td><span class="fall"><i style=${`left:${left.toFixed(2)}%;width:${((100 * part.seconds) / total).toFixed(2)}%`}></i></span></td></tr>`;
    })}</tbody>
    <tfoot><tr><td>All</td><td class="num">${ledgerSeconds(total, wall)}</td><td class="q plainest">${
      first === undefined
        ? ""
        : `${ledgerSeconds(first.seconds, wall)} of it in ${first.last > first.first ? "steps" : "step"} ${range(stepOfRow(track, first.first), stepOfRow(track, first.last))}`
    }</td></tr></tfoot>
  </table></div>`;
}
