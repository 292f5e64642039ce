/** May I trust it: what was measured, and what was not and why. */

import { html, type TemplateResult } from "lit-html";
import type { RunReport, SignalState } from "../api/types";
import { count, plural } from "../base/format";
import { sentence } from "../model/causes";
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
    return {
      note: `${seen.length} measured, ${part.length} in part, ${rest.length - part.length} not; what is not measured is never counted as zero`,
      body: html`<div class="two">
        <table><thead><tr><th>Measured</th><th>Remark</th></tr></thead>
          <tbody>${seen.map(measuredRow)}</tbody></table>
        <div><table><thead><tr><th>Not measured</th><th>Because</th></tr></thead>
          <tbody>${rest.map(missingRow)}</tbody></table>${completeness(report)}</div>
      </div>`,
    };
  },
});

/** What each collector of the writer sees; a collector of a newer writer is shown by its id. */
const TITLES: Readonly<Record<string, string>> = {
  step_time: "Step time",
  retraces: "Retraces, with reason and seconds",
  garbage_collection: "Garbage collection pauses",
  input_wait: "Input wait",
  host_memory: "Host memory, page faults, context switches",
  allocator: "Allocator, in use and peak",
  graph: "Operations and functions in TensorFlow's graphs",
};

const titleOf = (state: SignalState): string => TITLES[state.signal] ?? sentence(state.signal);

const measuredRow = (state: SignalState): TemplateResult =>
  html`<tr><td class="st">${titleOf(state)}</td><td class="q">${prose(state.reason)}</td></tr>`;

function missingRow(state: SignalState): TemplateResult {
  const mark = state.status === "partly" ? "st part" : "st off";
  const why =
    state.reason ||
    { off: "switched off", failed: "failed" }[state.status as string] ||
    "unavailable";
  return html`<tr><td class=${mark}>${titleOf(state)}</td><td>${prose(why)}</td></tr>`;
}

function completeness(report: RunReport): TemplateResult {
  const { chunks, missing_chunks: missing } = report.completeness;
  return html`<p class="complete"><b>Completeness.</b> ${
    missing === 0
      ? `${plural(chunks, "chunk")} of records, no gap, ${plural(report.steps, "step")}.`
      : `${count(missing)} of ${count(chunks + missing)} chunks are missing; their seconds are in no sum.`
  }</p><p class="q">Nothing on this page left this machine.</p>`;
}
