/** Several workers of one run: how long each waits, and for whom. */

import { html, type TemplateResult } from "lit-html";
import type { RunReport, Worker } from "../../api/wire/report";
import { count, ledgerSeconds, stepTime } from "../../base/format";
import type { Content, Page } from "../contract";

export const workers: Content<RunReport> = {
  load: (source) => source.report(),
  view: ({ workers: all, wall_seconds: wall, run }, page) => {
    return {
      note: `page of worker ${all.find((one) => one.run === run)?.worker} of ${all.length}`,
      body: table(all, wall, page),
    };
  },
};

function table(all: readonly Worker[], wall: number, page: Page): TemplateResult {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Workers as a table"><table>
    <thead><tr><th>Worker</th><th class="num">Steps</th><th class="num">Median step</th><th class="num">Waits for others</th><th class="num">Others wait for it</th><th>Reading</th></tr></thead>
    <tbody>${all.map((one) => {
      const name = `Worker ${one.worker}`;
      return html`<tr><td>${one.run === page.run.run || page.shared ? name : html`<button @click=${() => page.actions.choose(one.run)}>${name}</button>`}</td>
        <td class="num">${count(one.steps)}</td><td class="num">${stepTime(one.step_seconds)}</td>
        <td class="num">${ledgerSeconds(one.wait_seconds, wall)}</td>
        <td class="num">${ledgerSeconds(one.others_wait_seconds, wall)}</td>
        <td class=${one.straggler ? "" : "q"}>${one.reading}</td></tr>`;
    })}</tbody></table></div>`;
}
