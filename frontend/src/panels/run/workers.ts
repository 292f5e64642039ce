/** Several workers of one run: how long each waits, and for whom. */

import { html, type TemplateResult } from "lit-html";
import type { RunReport, Worker } from "../../api/wire/report";
import { count, duration, ledgerSeconds, plural, stepTime } from "../../base/format";
import type { Content } from "../contract";

export const workers: Content<RunReport> = {
  load: (source) => source.report(),
  view: ({ workers: all, wall_seconds: wall }) => {
    const late = all.find((one) => one.straggler);
    const finding =
      late === undefined
        ? "no single one is waited for"
        : `worker ${late.worker} is waited for, ${duration(late.others_wait_seconds)} in all`;
    return {
      note: `${plural(all.length, "worker")} of one run, whose ledger is that of worker ${all[0]?.worker}; ${finding}`,
      body: table(all, wall),
    };
  },
};

function table(all: readonly Worker[], wall: number): TemplateResult {
  const longest = Math.max(...all.map((one) => one.wait_seconds ?? 0), 1e-9);
  return html`<div class="scroll"><table>
    <thead><tr><th>Worker</th><th class="num">Steps</th><th class="num">Median step</th><th class="num">Waits for others</th><th class="c30">Share of the longest wait</th><th class="num">Others wait for it</th><th>Reading</th></tr></thead>
    <tbody>${all.map(
      (one) => html`<tr><td>Worker ${one.worker}</td>
        <td class="num">${count(one.steps)}</td><td class="num">${stepTime(one.step_seconds)}</td>
        <td class="num">${ledgerSeconds(one.wait_seconds, wall)}</td>
        <td><span class="fall"><i class="wait" style=${`width:${((100 * (one.wait_seconds ?? 0)) / longest).toFixed(2)}%`}></i></span></td>
        <td class="num">${ledgerSeconds(one.others_wait_seconds, wall)}</td>
        <td class=${one.straggler ? "" : "q"}>${reading(one)}</td></tr>`,
    )}</tbody></table></div>`;
}

function reading(one: Worker): string {
  if (one.wait_seconds === null) return "waiting was not measured";
  return one.straggler ? "the straggler: it arrives last" : "waits";
}
