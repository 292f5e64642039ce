/** A list of all runs with a filter, in a layer of its own. */

import { html, nothing, type TemplateResult } from "lit-html";
import { ago, count, percent } from "../base/format";
import { lostOf, NEWEST, type Row, sorted } from "../model/runs/columns";
import { filtered, rowsOf } from "../model/runs/filter";
import { middle } from "../model/runs/groups";
import { verdictText } from "../model/runs/verdict_text";
import type { App } from "./app";
import type { State } from "./state/state";

const MOST_ROWS = 200;
const MOST_LETTERS = 34;
const NARROW_LETTERS = 19;
const NARROW_PIXELS = 680;

export function picker(app: App, state: State, now: number): TemplateResult {
  const all = state.runs?.runs ?? [];
  const found = sorted(filtered(rowsOf(all, state.found), state.filter), [], NEWEST);
  const shown = found.slice(0, MOST_ROWS);
  return html`<div class="pop" role="dialog" aria-label="Choose a run" @keydown=${(event: KeyboardEvent) => key(event, app)}>
    <input type="search" aria-label="Filter runs" placeholder="Filter by name" .value=${state.filter}
      @input=${(event: Event) => app.filter((event.target as HTMLInputElement).value)}>
    <div class="rows"><table>
      <thead><tr><th>Run <span class="q">(${count(found.length)} of ${count(all.length)})</span></th><th>Verdict</th><th class="num">Lost</th><th class="num">Steps</th><th class="num">Written</th></tr></thead>
      <tbody>${shown.map((one) => row(app, state, one, now))}</tbody>
    </table>
    ${
      found.length === 0
        ? html`<p class="q none">No run matches “${state.filter}”. <button class="quiet sm" @click=${() => app.filter("")}>Clear filter</button></p>`
        : found.length > shown.length
          ? html`<p class="q none">${count(found.length - shown.length)} more; type a part of the name.</p>`
          : ""
    }</div>
    ${unjudged(state)}<p class="s q hint">Words filter by name; <code class="k">lost&gt;10</code>, <code class="k">cause:retracing</code>, <code class="k">live</code> by result. <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> open, <kbd>Esc</kbd> close.</p>
  </div>`;
}

function row(app: App, state: State, row: Row, now: number): TemplateResult {
  const { run } = row;
  const here = run.run === state.run;
  return html`<tr class=${here ? "sel" : ""}>
    <td class="name"><button class="link" aria-current=${here ? "true" : "false"} title=${run.title} @click=${() => app.choose(run.run)}><bdi>${middle(run.title, state.width < NARROW_PIXELS ? NARROW_LETTERS : MOST_LETTERS)}</bdi></button></td>
    <td class="nw">${verdictText(row)}</td>
    <td class="num">${percent(lostOf(row))}</td>
    <td class="num">${count(run.steps)}</td>
    <td class="num q">${run.reported === null ? "–" : ago(now - run.reported)}</td>
  </tr>`;
}

/** A filter by result sees only what has been judged. */
export function unjudged({ progress }: State): TemplateResult | typeof nothing {
  if (progress === undefined || progress.judged >= progress.of) return nothing;
  return html`<p class="q none" role="status">${count(progress.judged)} of ${count(progress.of)} runs judged so far.</p>`;
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
