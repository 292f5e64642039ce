/** May I trust it: what was measured, and what was not and why. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { RunReport, SignalState } from "../api/types";
import { count, plural } from "../base/format";
import { collectorTitle } from "../model/collectors";
import { sealed } from "./panel";
import { prose } from "./parts";

export const signals = sealed<RunReport>({
  id: "signals",
  title: "Signals",
  anchor: "Signals",
  load: (source) => source.report(),
  view: (report) => {
    const seen = report.signals.filter((state) => state.status === "measured");
    const part = report.signals.filter((state) => state.status === "partly");
    const rest = report.signals.filter((state) => state.status !== "measured");
    const remarks = seen.some((state) => state.reason !== "");
    return {
      note: `${seen.length} measured, ${part.length} in part, ${rest.length - part.length} not; what is not measured is never counted as zero`,
      body: html`<div class="two">
        <table><thead><tr><th>Measured</th>${remarks ? html`<th>Remark</th>` : nothing}</tr></thead>
          <tbody>${seen.map((state) => measuredRow(state, remarks))}</tbody></table>
        <div>${rest.length === 0 ? nothing : missing(rest)}${completeness(report)}</div>
      </div>`,
    };
  },
});

const missing = (rest: readonly SignalState[]): TemplateResult =>
  html`<table><thead><tr><th>Not measured</th><th>Because</th></tr></thead>
    <tbody>${rest.map(missingRow)}</tbody></table>`;

const measuredRow = (state: SignalState, remarks: boolean): TemplateResult =>
  html`<tr><td class="st">${collectorTitle(state.signal)}</td>${
    remarks ? html`<td class="q">${prose(state.reason)}</td>` : nothing
  }</tr>`;

const WHY: Readonly<Record<SignalState["status"], string>> = {
  measured: "",
  partly: "only now and then",
  unavailable: "unavailable here",
  off: "switched off",
  failed: "the collector failed",
};

function missingRow(state: SignalState): TemplateResult {
  const mark = state.status === "partly" ? "st part" : "st off";
  return html`<tr><td class=${mark}>${collectorTitle(state.signal)}</td><td>${prose(state.reason || WHY[state.status])}</td></tr>`;
}

function completeness(report: RunReport): TemplateResult {
  const { chunks, missing_chunks: missing } = report.completeness;
  return html`<p class="complete"><b>Completeness.</b> ${
    missing === 0
      ? `${plural(chunks, "chunk")} of records, no gap, ${plural(report.steps, "step")}.`
      : `${count(missing)} of ${count(chunks + missing)} chunks are missing; their seconds are in no sum.`
  }</p><p class="q">Nothing on this page left this machine.</p>`;
}
