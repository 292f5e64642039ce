/** A list of all runs with a filter, in a layer of its own. */

import { html, type TemplateResult } from "lit-html";
import type { Run } from "../api/wire/report";
import { ago, count, percent } from "../base/format";
import { filtered, lostOf, verdictText } from "../model/run/run_list";
import type { App } from "./app";
import type { State } from "./state/state";

const MOST_ROWS = 200;

export function picker(app: App, state: State, now: number): TemplateResult {
  const all = state.runs?.runs ?? [];
  const found = filtered(all, state.filter, state.reports);
  const shown = found.slice(0, MOST_ROWS);
  return html`<div class="pop" role="dialog" aria-label="Choose a run" @keydown=${(event: KeyboardEvent) => key(event, app)}>
    <input type="search" aria-label="Filter runs" placeholder="Filter by name" .value=${state.filter}
      @input=${(event: Event) => app.filter((event.target as HTMLInputElement).value)}>
    <div class="rows"><table>
      <thead><tr><th>Run <span class="q">(${count(found.length)} of ${count(all.length)})</span></th><th>Verdict</th><th class="num">Lost</th><th class="num">Steps</th><th class="num">Written</th></tr></thead>
      <tbody>${shown.map((run) => row(app, state, run, now))}</tbody>
    </table>
    ${
      found.length === 0
        ? html`<p class="q none">No run matches “${state.filter}”. <button class="quiet sm" @click=${() => app.filter("")}>Clear filter</button></p>`
        : found.length > shown.length
          ? html`<p class="q none">${count(found.length - shown.length)} more; type a part of the name.</p>`
          : ""
    }</div>
    <p class="s q hint">Words filter by name; <code class="k">lost&gt;10</code>, <code class="k">cause:retracing</code>, <code class="k">live</code> by result. <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> open, <kbd>Esc</kbd> close.</p>
  </div>`;
}

function row(app: App, state: State, run: Run, now: number): TemplateResult {
  const here = run.run === state.run;
  const report = state.reports.get(run.run);
  return html`<tr class=${here ? "sel" : ""}>
    <td class="name"><button class="link" aria-current=${here ? "true" : "false"} title=${run.title} @click=${() => app.choose(run.run)}><bdi>${run.title}</bdi></button></td>
    <td class="nw">${verdictText(run, report)}</td>
    <td class="num">${percent(lostOf(run, report))}</td>
    <td class="num">${count(run.steps)}</td>
    <td class="num q">${run.reported === null ? "–" : ago(now - run.reported)}</td>
  </tr>`;
}

function key(event: KeyboardEvent, app: App): void {
  const box = event.currentTarget as HTMLElement;
  const stops = [...box.querySelectorAll<HTMLElement>("input, tbody button.link")];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  if (event.key === "Escape") {
    app.picker(false);
    document.querySelector<HTMLElement>("button.picker")?.focus();
  } else if (event.key === "ArrowDown") stops[Math.min(stops.length - 1, at + 1)]?.focus();
  else if (event.key === "ArrowUp") stops[Math.max(0, at - 1)]?.focus();
  else if (event.key === "Enter" && at === 0) stops[1]?.click();
  else return;
  event.preventDefault();
}
