/** What the start cost, mechanism by mechanism in order of time. */

import { html, type TemplateResult } from "lit-html";
import type { Cause, RunReport } from "../../api/wire/report";
import { ledgerSeconds, range } from "../../base/format";
import type { Content } from "../contract";
import { prose } from "../pieces";

export const warmup: Content<RunReport> = {
  load: (source) => source.report(),
  view: (report) => {
    const cause = report.causes.find((one) => one.cause === "warm_up");
    if (cause === undefined) return { body: html`` };
    const wall = report.wall_seconds;
    return {
      note: `${ledgerSeconds(cause.lost_seconds, wall)} above baseline in ${steps(cause.steps)}`,
      body: html`${table(cause, wall)}
        <ul class="bullets">${cause.evidence.map((sentence) => html`<li>${prose(sentence)}</li>`)}</ul>`,
    };
  },
};

const steps = (part: readonly [number, number]): string =>
  `${part[0] === part[1] ? "step" : "steps"} ${range(part[0], part[1])}`;

function table(cause: Cause, wall: number): TemplateResult {
  const total = cause.lost_seconds;
  let before = 0;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Parts of the warm-up"><table>
    <thead><tr><th>Part</th><th class="num">Seconds</th><th class="c30">Timeline, 0 to ${ledgerSeconds(total, wall)}</th><th>Source</th></tr></thead>
    <tbody>${cause.parts.map((part) => {
      const left = (100 * before) / total;
      before += part.lost_seconds;
      return html`<tr><td title=${`In ${steps(part.steps)}`}>${part.title}</td>
        <td class="num">${ledgerSeconds(part.lost_seconds, wall)}</td>
        <td><span class="fall"><i style=${`left:${left.toFixed(2)}%;width:${((100 * part.lost_seconds) / total).toFixed(2)}%`}></i></span></td>
        <td class="q">${part.known}</td></tr>`;
    })}</tbody>
    <tfoot><tr><td>Total</td><td class="num">${ledgerSeconds(total, wall)}</td><td colspan="2"></td></tr></tfoot>
  </table></div>`;
}
