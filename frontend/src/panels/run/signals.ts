/** May I trust it: what was measured, and what was not and why. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { RunReport, SignalState } from "../../api/wire/report";
import { count, plural } from "../../base/format";
import { collectorTitle } from "../../catalog/collectors";
import { whyNot } from "../../model/run/measurement_summary";
import { gapsText } from "../../model/timeline/gap_text";
import type { Content } from "../contract";
import { prose } from "../pieces";

export const signals: Content<RunReport> = {
  load: (source) => source.report(),
  view: (report, page) => {
    const seen = report.signals.filter((state) => state.status === "measured");
    const part = report.signals.filter((state) => state.status === "partly");
    const rest = report.signals.filter((state) => state.status !== "measured");
    const remarks = seen.some((state) => state.reason !== "");
    return {
      note: `${seen.length} measured, ${part.length} in part, ${rest.length - part.length} not`,
      body: html`<div class="two">
        ${remarks ? measured(seen) : html`<ul class="seen">${seen.map((state) => html`<li class="st">${collectorTitle(state.signal)}</li>`)}</ul>`}
        <div>${rest.length === 0 ? nothing : missing(rest)}${completeness(report, page.shared)}</div>
      </div>`,
    };
  },
};

const missing = (rest: readonly SignalState[]): TemplateResult =>
  html`<table><thead><tr><th>Not measured</th><th>Because</th></tr></thead>
    <tbody>${rest.map(missingRow)}</tbody></table>`;

const measured = (seen: readonly SignalState[]): TemplateResult =>
  html`<table><thead><tr><th>Measured</th><th>Remark</th></tr></thead>
    <tbody>${seen.map(
      (state) =>
        html`<tr><td class="st">${collectorTitle(state.signal)}</td><td class="q">${prose(state.reason)}</td></tr>`,
    )}</tbody></table>`;

function missingRow(state: SignalState): TemplateResult {
  const mark = state.status === "partly" ? "st part" : "st off";
  return html`<tr><td class=${mark}>${collectorTitle(state.signal)}</td><td>${prose(whyNot(state))}</td></tr>`;
}

function completeness(report: RunReport, shared: boolean): TemplateResult {
  const { chunks, missing_chunks: missing, gaps } = report.completeness;
  return html`<p class="complete"><b>Completeness.</b> ${
    missing === 0
      ? `No record is missing; ${plural(report.steps, "step")}.`
      : `${count(missing)} of ${count(chunks + missing)} records ${missing === 1 ? "is" : "are"} missing${gapsText(gaps)}. ${missing === 1 ? "Its" : "Their"} time isn't included in any total.`
  }</p><p class="q">${
    shared ? "Self-contained: makes no network requests." : "No data leaves this machine."
  }</p>`;
}
