/** May I trust it: what was measured, and what was not and why. */

import { html, type TemplateResult } from "lit-html";
import type { RunReport, SignalState } from "../api/types";
import { count, plural } from "../base/format";
import { sentence } from "../model/causes";
import { type Page, sealed } from "./panel";
import { prose } from "./parts";

export const signals = sealed<RunReport>({
  id: "signals",
  title: "Signals",
  anchor: "Signals",
  load: (source) => source.report(),
  view: (report, page) => {
    const seen = report.signals.filter((state) => state.status === "measured");
    const part = report.signals.filter((state) => state.status === "partly");
    const rest = report.signals.filter((state) => state.status !== "measured");
    return {
      note: `${seen.length} measured, ${part.length} in part, ${rest.length - part.length} not; what is not measured is never counted as zero`,
      body: html`<div class="two">
        <table><thead><tr><th>Measured</th><th class="num">Values in view</th></tr></thead>
          <tbody>${seen.map((state) => measuredRow(state, page))}</tbody></table>
        <div><table><thead><tr><th>Not measured</th><th>Because</th></tr></thead>
          <tbody>${rest.map(missingRow)}</tbody></table>${completeness(report)}</div>
      </div>`,
    };
  },
});

function measuredRow(state: SignalState, page: Page): TemplateResult {
  const series = page.whole?.timeline.signals.find((one) => one.signal === state.signal);
  return html`<tr><td class="st">${series?.title ?? sentence(state.signal)}</td><td class="num q">${
    series === undefined ? "–" : count(series.value.filter((value) => value !== null).length)
  }</td></tr>`;
}

function missingRow(state: SignalState): TemplateResult {
  const mark = state.status === "partly" ? "st part" : "st off";
  const why =
    state.reason ||
    { off: "switched off", failed: "failed" }[state.status as string] ||
    "unavailable";
  return html`<tr><td class=${mark}>${sentence(state.signal)}</td><td>${prose(why)}</td></tr>`;
}

function completeness(report: RunReport): TemplateResult {
  const { chunks, missing_chunks: missing } = report.completeness;
  return html`<p class="complete"><b>Completeness.</b> ${
    missing === 0
      ? `${plural(chunks, "chunk")} of records, no gap, ${plural(report.steps, "step")}.`
      : `${count(missing)} of ${count(chunks + missing)} chunks are missing; their seconds are in no sum.`
  }</p><p class="q">Nothing on this page left this machine.</p>`;
}
