/** All runs at a glance: the first thing one sees where there are several. */

import { html, nothing, type TemplateResult } from "lit-html";
import { count } from "../../base/format";
import { COLUMNS, type Column, type Row, settingColumns, sorted } from "../../model/runs/columns";
import { filtered, rowsOf } from "../../model/runs/filter";
import { type Group, grouped, hasExperiments } from "../../model/runs/groups";
import { copy } from "../../panels/pieces";
import type { App } from "../app";
import type { State } from "../state/state";
import { moveFocus } from "./keys";
import { groupHead, type RowLook, runRow } from "./run_row";

export function allRuns(app: App, state: State, now: number): TemplateResult {
  const all = rowsOf(state.runs?.runs ?? [], state.found);
  const columns = [...COLUMNS, ...settingColumns(all)];
  const rows = sorted(filtered(all, state.list.filter), columns, state.list.order);
  const hasGroups = hasExperiments(all);
  const byGroup = hasGroups && (state.list.grouped ?? true);
  const look: RowLook = { app, picked: state.list.picked, columns, width: state.width, now };
  return html`<div class="plain all-runs" @keydown=${(event: KeyboardEvent) => moveFocus(event, app, state.list.picked)}>
    <h1>All runs</h1>
    ${tools(app, state, hasGroups, byGroup)}
    ${status(state, rows.length, all.length)}
    ${rows.length === 0 ? none(app, state) : table(state, look, byGroup ? grouped(rows) : [whole(rows)])}
    <p class="s q hint">Words filter by name, verdict, and first cause; ${code("lost>=10")} (percent), ${code("ms<50")}, ${code('cause:"input pipeline"')} (any cause), ${code("learning_rate<0.01")} (any column). <kbd>/</kbd> filter, <kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> open, <kbd>X</kbd> choose, <kbd>C</kbd> compare.</p>
  </div>`;
}

const code = (text: string): TemplateResult => html`<code class="k">${text}</code>`;

const whole = (rows: readonly Row[]): Group => ({
  ...{ name: "", path: "", rows },
  ...{ slow: 0, worst: null },
});

function tools(app: App, state: State, hasGroups: boolean, byGroup: boolean): TemplateResult {
  const { picked, filter } = state.list;
  return html`<div class="list-tools">
    <input type="search" class="list-filter" aria-label="Filter runs" placeholder="Filter: name, healthy, lost>=10, cause:retracing …" .value=${filter}
      @input=${(event: Event) => app.list({ filter: (event.target as HTMLInputElement).value })}>
    ${
      hasGroups
        ? html`<label class="check"><input type="checkbox" .checked=${byGroup} @change=${() => app.list({ grouped: !byGroup })}> By experiment</label>`
        : nothing
    }
    <button ?disabled=${picked.length < 2} @click=${() => app.comparePicked()}>Compare${picked.length > 0 ? ` ${count(picked.length)}` : ""}</button>
    ${picked.length > 0 ? html`<button class="quiet" @click=${() => app.list({ picked: [] })}>Clear choice</button>` : nothing}
    <button class="sm link-copy" @click=${(event: Event) => void copy(event, app.link())}>Copy link</button>
  </div>`;
}

/** How many match, and of how many that is known. */
function status(state: State, found: number, all: number): TemplateResult {
  const { progress } = state;
  const judged = progress?.judged ?? 0;
  const of = progress?.of ?? all;
  const matching =
    state.list.filter === "" ? `${count(all)} runs` : `${count(found)} of ${count(all)} runs match`;
  if (judged >= of) return html`<p class="q list-status" role="status">${matching}.</p>`;
  return html`<p class="q list-status"><span role="status">${matching}; ${count(judged)} of ${count(of)} judged so far.</span>
    <progress aria-label="Runs judged" max=${of} value=${judged}></progress></p>`;
}

const none = (app: App, state: State): TemplateResult =>
  html`<p class="empty">No run matches “${state.list.filter}”. <button class="quiet sm" @click=${() => app.list({ filter: "" })}>Clear filter</button></p>`;

function table(state: State, look: RowLook, groups: readonly Group[]): TemplateResult {
  let room = state.list.rows;
  const bodies = groups.map((group) => {
    if (room <= 0) return nothing;
    const closed = state.list.closed.includes(group.name);
    const rows = closed ? [] : group.rows.slice(0, room);
    room -= rows.length + 1;
    const isNamed = groups.length > 1 || group.name !== "";
    return html`<tbody>${isNamed ? groupHead(look, group, state.list.closed) : nothing}${rows.map((row) => runRow(look, row, group.path))}</tbody>`;
  });
  const drawn = state.list.rows - room;
  const all = groups.reduce((sum, group) => sum + group.rows.length, 0);
  return html`<div class="scroll"><table class="runs">
      <thead><tr><th><span class="vh">Chosen</span></th>${look.columns.map((column) => head(look.app, state, column))}</tr></thead>
      ${bodies}
    </table></div>
    ${room <= 0 && drawn < all + groups.length ? html`<p><button class="more-rows" @click=${() => look.app.moreRows()}>Show more</button></p>` : nothing}`;
}

function head(app: App, state: State, column: Column): TemplateResult {
  const { by, descending } = state.list.order;
  const here = by === column.id;
  // Text is read from A on; of figures the largest are looked for.
  const first = column.numeric;
  return html`<th class=${`${column.numeric ? "num" : ""} col-${column.id.replace(/\W.*/, "")}`} aria-sort=${here ? (descending ? "descending" : "ascending") : nothing}>
    <button class="sort" @click=${() => app.order(column.id, first)}>${column.title}${here ? (descending ? " ↓" : " ↑") : ""}</button></th>`;
}
