/** The bar at the top: which run, how fresh, and the way to each panel. */

import { html, nothing, type TemplateResult } from "lit-html";
import { addressOf } from "../api/client";
import { isShared } from "../api/embedded";
import type { Run } from "../api/types";
import { ago, clock, count, plural } from "../base/format";
import type { AnyPanel } from "../panels/panel";
import { copy } from "../panels/parts";
import type { App } from "./app";
import { picker } from "./picker";
import type { Gone, State } from "./state";

export function toolbar(
  app: App,
  state: State,
  panels: readonly AnyPanel[],
  now: number,
): TemplateResult {
  const run = state.runs?.runs.find((one) => one.run === state.run);
  return html`<div class="bar-top">
    ${state.runs?.runs.length ? pickerButton(app, state) : html`<b>Slowdown</b>`}
    ${(state.runs?.runs.length ?? 0) > 1 && run !== undefined ? compareButton(app) : nothing}
    ${run === undefined ? nothing : freshness(run, state, now)}
    ${run === undefined ? nothing : links(app, state, panels, run)}
    ${state.picker ? picker(app, state, now) : nothing}
  </div>`;
}

function pickerButton(app: App, state: State): TemplateResult {
  const name = state.run ?? "";
  return html`<button class="picker" aria-haspopup="dialog" aria-expanded=${state.picker ? "true" : "false"} title=${`${name} (choose a run: R)`}
    @click=${() => app.picker(!state.picker)}><span class="q">Run</span> <b>${name || "none"}</b> <span aria-hidden="true">▾</span></button>`;
}

/** Leads to where the second run is chosen. */
const compareButton = (app: App): TemplateResult =>
  html`<button class="quiet more-runs" @click=${() => {
    app.goTo("compare");
    document.querySelector<HTMLElement>("#compare select")?.focus({ preventScroll: true });
  }}>+ Compare</button>`;

function links(app: App, state: State, panels: readonly AnyPanel[], run: Run): TemplateResult {
  const file = `slowdown-${run.run.replace(/[^\w.-]+/g, "_").slice(0, 80)}.json`;
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
    <button class="sm" title="Copies a link with run, range and open cards" @click=${(event: Event) => void copy(event, app.link())}>Copy link</button>
    <a class="btn sm" href=${reportAddress(run, state)} download=${file} title="The report as JSON; tbslow report writes it as text or HTML too">Report</a>`;
}

/** Without a server, the JSON itself. */
function reportAddress(run: Run, { report }: State): string {
  if (!isShared()) return addressOf("report", { run: run.run });
  const body = { schema: 1, runs: report === undefined ? [] : [report] };
  return `data:application/json,${encodeURIComponent(JSON.stringify(body))}`;
}

function freshness(run: Run, state: State, now: number): TemplateResult {
  const chunks = state.report?.completeness;
  const read =
    chunks === undefined
      ? ""
      : chunks.missing_chunks > 0
        ? `, ${count(chunks.missing_chunks)} of ${count(chunks.chunks + chunks.missing_chunks)} chunks missing`
        : `, all ${plural(chunks.chunks, "chunk")} read`;
  const last = run.reported === null ? "" : `, reported ${ago(now - run.reported)}`;
  if (state.gone !== undefined) {
    return html`<span class="live"><span class="dot gone"></span>not live · ${plural(run.steps, "step")}</span>`;
  }
  return html`<span class="live" title=${run.reported === null ? "" : `last record at ${clock(run.reported)}`}><span class="dot"></span>${
    run.live
      ? `live · step ${count(run.last_step)}${last}`
      : `finished · ${plural(run.steps, "step")}${read}`
  }</span>`;
}

/** Said once, above everything, while nobody answers. */
export function banner(app: App, gone: Gone, now: number): TemplateResult {
  const wait = Math.max(0, Math.round(gone.next - now));
  return html`<div class="banner" role="status"><span><b>TensorBoard does not answer</b> since ${clock(gone.since)}. ${
    gone.state === undefined ? "" : `You see the state of ${clock(gone.state)}; `
  }next try in ${wait} s.</span><button class="sm" @click=${() => void app.refresh()}>Try now</button></div>`;
}

/** Records that never arrived: their seconds are in no sum. */
export function missingBanner(missing: number, chunks: number): TemplateResult {
  return html`<div class="banner" role="status"><span><b>${count(missing)} of ${count(chunks + missing)} chunks are missing.</b> Their seconds are in no sum. A record file was cut off, or TensorBoard's --samples_per_plugin dropped some.</span></div>`;
}
