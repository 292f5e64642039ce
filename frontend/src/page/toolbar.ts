/** The bar at the top: which run, how fresh, and the way to each panel. */

import { html, nothing, type TemplateResult } from "lit-html";
import { addressOf } from "../api/client";
import { isShared } from "../api/embedded";
import type { Run, RunReport } from "../api/wire/report";
import { ago, clock, count, plural } from "../base/format";
import { middle } from "../model/runs/groups";
import { gapsText } from "../model/timeline/gap_text";
import type { AnyPanel } from "../panels/contract";
import { copy } from "../panels/pieces";
import type { App } from "./app";
import { keysButton } from "./keys_help";
import { picker } from "./picker";
import { type Gone, type State, shownRun } from "./state/state";

/** Letters of a run's name that have room. */
const room = (width: number): number => (width > 1140 ? 44 : width > 680 ? 34 : 16);

export function toolbar(
  app: App,
  state: State,
  panels: readonly AnyPanel[],
  now: number,
): TemplateResult {
  const run = shownRun(state);
  return html`<div class="bar-top">
    ${state.runs?.runs.length && state.run !== undefined ? pickerButton(app, state, run?.title ?? state.run ?? "") : html`<b>Slowdown</b>`}
    ${run === undefined ? nothing : workerChooser(app, state, run)}
    ${(state.runs?.runs.length ?? 0) > 1 && state.run !== undefined ? html`${isShared() ? nothing : allRunsButton(app)}${run === undefined ? nothing : compareButton(app)}` : nothing}
    ${run === undefined ? nothing : freshness(run, state, now)}
    ${run === undefined ? nothing : links(app, state, panels, run)}
    ${keysButton}
    ${state.picker ? picker(app, state, now) : nothing}
  </div>`;
}

function pickerButton(app: App, state: State, name: string): TemplateResult {
  return html`<button class="picker" aria-haspopup="dialog" aria-expanded=${state.picker ? "true" : "false"} title=${`${name} (choose a run: R)`}
    @click=${() => app.picker(!state.picker)}><span class="q">Run</span> <b>${middle(name || "none", room(state.width))}</b> <span aria-hidden="true">▾</span></button>`;
}

/** Of several workers: whose page this is, and the way to the others. */
function workerChooser(
  app: App,
  { workers }: State,
  { run }: Run,
): TemplateResult | typeof nothing {
  const here = workers.find((one) => one.run === run);
  if (here === undefined) return nothing;
  // A report in one file has one worker.
  if (isShared())
    return html`<span class="worker">Worker ${here.worker}, one of ${workers.length}</span>`;
  return html`<label class="worker"><span>Worker</span> <select
    @change=${(event: Event) => app.choose((event.target as HTMLSelectElement).value)}>${workers.map(
      ({ run: name, worker, straggler }) =>
        html`<option value=${name} .selected=${name === run}>${worker}${straggler ? ", straggler" : ""}</option>`,
    )}</select></label>`;
}

const allRunsButton = (app: App): TemplateResult =>
  html`<button class="quiet all-runs" @click=${() => app.allRuns()}>All runs</button>`;

/** Leads to where the second run is chosen. */
const compareButton = (app: App): TemplateResult =>
  html`<button class="quiet more-runs" @click=${() => {
    app.goTo("compare");
    document.querySelector<HTMLElement>("#compare select")?.focus({ preventScroll: true });
  }}>+ Compare</button>`;

function links(app: App, state: State, panels: readonly AnyPanel[], run: Run): TemplateResult {
  return html`<nav aria-label="On this page">${panels
    .filter((panel) => panel.anchor !== undefined)
    .map(
      (panel) =>
        html`<a href=${`#${panel.id}`} aria-current=${state.here === panel.id ? "true" : nothing} @click=${(
          event: Event,
        ) => {
          event.preventDefault();
          app.goTo(panel.id);
        }}>${panel.anchor}</a>`,
    )}</nav>
    <button class="sm" title="Copy a link to this run, range, and open cards" @click=${(event: Event) => void copy(event, app.link())}>Copy link</button>
    ${isShared() ? ownReport(run, state) : reports(run)}`;
}

const fileName = (run: Run): string =>
  `slowdown-${run.title.replace(/[^\w.-]+/g, "_").slice(0, 80)}`;

/** The report to save: for people, and for programs. */
function reports(run: Run): TemplateResult {
  const query = { run: run.run };
  return html`<details class="menu" @toggle=${closeElsewhere} @keydown=${closeByKey} @click=${closeByChoice}>
    <summary class="btn sm">Report <span aria-hidden="true">▾</span></summary>
    <div><a href=${addressOf("report.html", query)} download=${`${fileName(run)}.html`}>Download as HTML</a>
      <a href=${addressOf("report", query)} download=${`${fileName(run)}.json`}>Download as JSON</a>
      <a href="#print" @click=${printed}>Print or save as PDF</a></div>
  </details>`;
}

function printed(event: Event): void {
  event.preventDefault();
  print();
}

/** This page is the one to send already, and has no server: the data itself. */
function ownReport(run: Run, { report }: State): TemplateResult {
  const body = { schema: 1, runs: report === undefined ? [] : [report] };
  const address = `data:application/json,${encodeURIComponent(JSON.stringify(body))}`;
  return html`<a class="btn sm" href=${address} download=${`${fileName(run)}.json`} title="The report as JSON, for scripts">Report</a>`;
}

/** An open menu closes as soon as the mouse or the focus goes elsewhere. */
function closeElsewhere({ currentTarget }: Event): void {
  const menu = currentTarget as HTMLDetailsElement;
  if (!menu.open) return;
  const listening = new AbortController();
  const close = ({ target }: Event): void => {
    if (target instanceof Node && menu.contains(target)) return;
    menu.open = false;
    listening.abort();
  };
  for (const kind of ["pointerdown", "focusin"]) {
    document.addEventListener(kind, close, { signal: listening.signal });
  }
}

function closeByKey(event: KeyboardEvent): void {
  const menu = event.currentTarget as HTMLDetailsElement;
  if (event.key !== "Escape" || !menu.open) return;
  event.stopPropagation(); // it also clears the selection
  menu.open = false;
  menu.querySelector("summary")?.focus();
}

function closeByChoice({ currentTarget, target }: Event): void {
  if ((target as Element).closest("a")) (currentTarget as HTMLDetailsElement).open = false;
}

function freshness(run: Run, state: State, now: number): TemplateResult {
  const chunks = state.report?.completeness;
  const read =
    chunks === undefined || chunks.chunks + chunks.missing_chunks === 0
      ? ""
      : chunks.missing_chunks > 0
        ? `, ${count(chunks.missing_chunks)} of ${count(chunks.chunks + chunks.missing_chunks)} records missing`
        : "";
  const last = run.reported === null ? "" : `, reported ${ago(now - run.reported)}`;
  if (state.gone !== undefined && run.live) {
    return html`<span class="live"><span class="dot gone"></span>not live · ${plural(run.steps, "step")}</span>`;
  }
  const said = run.live
    ? `live · step ${count(run.last_step)}${last}`
    : `finished · ${plural(run.steps, "step")}${read}`;
  const when = run.reported === null ? "" : `; last record at ${clock(run.reported)}`;
  return html`<span class="live" title=${`${said}${when}`}><span class="dot"></span>${said}</span>`;
}

/** Said once, above everything, while nobody answers. */
export function banner(app: App, gone: Gone, now: number): TemplateResult {
  const wait = Math.max(0, Math.round(gone.next - now));
  return html`<div class="banner" role="status"><span><b>TensorBoard hasn't responded</b> since ${clock(gone.since)}. ${
    gone.state === undefined ? "" : `Showing data from ${clock(gone.state)}; `
  }retrying in ${wait} s.</span><button class="sm" @click=${() => void app.refresh()}>Try now</button></div>`;
}

/** Records that never arrived: their seconds are in no sum. */
export function missingBanner(completeness: RunReport["completeness"]): TemplateResult {
  const { chunks, missing_chunks: missing, gaps } = completeness;
  const [be, whose] = missing === 1 ? ["is", "Its"] : ["are", "Their"];
  return html`<div class="banner" role="status"><span><b>${count(missing)} of ${count(chunks + missing)} data records ${be} missing</b>${gapsText(gaps)}. ${whose} time isn't included in any total. A record file was cut off, or TensorBoard's --samples_per_plugin dropped some.</span></div>`;
}
