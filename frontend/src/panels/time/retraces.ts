/** Which function was traced again, because of which argument. */

import { html, nothing, type TemplateResult } from "lit-html";
import "../../charts/sparkline";
import type { RetraceExample, RetraceGroup, Retraces } from "../../api/wire/retraces";
import { count, ledgerSeconds, plural, stepTime } from "../../base/format";
import { key, reasonOf, shortened } from "../../model/run/retrace_reason";
import { between, padded } from "../../model/timeline/window";
import type { Content, Page, SortColumn } from "../contract";
import { prose } from "../pieces";

export const retraces: Content<Retraces> = {
  load: (source) => source.retraces(),
  view: (data, page) => {
    const library = blamed(data, page);
    if (library !== undefined) {
      return {
        note: `${plural(library.traces, "retrace")} of tf.data and Keras functions, ${ledgerSeconds(library.seconds, page.report?.wall_seconds)}; none of the program's own`,
        body: table(library, page),
      };
    }
    const empty = emptyText(data);
    if (empty !== undefined) return { body: html`<p class="empty">${empty}</p>` };
    const functions = new Set(data.groups.map((group) => group.function)).size;
    return {
      note: `${plural(data.traces, "retrace")} of ${plural(functions, "function")}, ${ledgerSeconds(data.seconds, page.report?.wall_seconds)}`,
      body: table(data, page),
    };
  },
};

/** The libraries' functions, where retracing is named and no function of the program's own is it. */
function blamed(data: Retraces, page: Page): Retraces | undefined {
  const { groups, library } = data;
  if (groups.length > 0 || library.length === 0 || !isNamed(page)) return undefined;
  const sum = (of: (group: RetraceGroup) => number): number =>
    library.reduce((all, group) => all + of(group), 0);
  return {
    ...data,
    groups: library,
    traces: sum((group) => group.count),
    seconds: sum((group) => group.seconds),
  };
}

const isNamed = (page: Page): boolean =>
  page.report?.causes.some((cause) => cause.cause === "retracing") ?? false;

function emptyText(data: Retraces): string | undefined {
  const { status, reason } = data.status;
  if (data.groups.length > 0) return undefined;
  if (status !== "measured" && status !== "partly") {
    return `Retraces were not measured: ${reason || status}.`;
  }
  return `No function was retraced. ${plural(data.watched, "function")} watched.`;
}

function table(data: Retraces, page: Page): TemplateResult {
  return html`<div class="scroll"><table>
    <thead><tr><th>Function</th><th>Place</th><th>Why it was retraced</th>${COLUMNS.map((column) =>
      heading(column, page),
    )}<th class="num">First cost</th><th class="num">Last cost</th><th>When</th><th>Fix</th></tr></thead>
    ${ordered(data.groups, page.sortedBy).map((group, index) => rows(group, page, page.open(key(group), index === 0)))}
    <tfoot><tr><td colspan="3">All</td><td class="num">${count(data.traces)}</td><td class="num">${ledgerSeconds(data.seconds, page.report?.wall_seconds)}</td><td colspan="4"></td></tr></tfoot>
  </table></div>`;
}

const COLUMNS = [
  ["count", "Count"],
  ["seconds", "Seconds"],
] as const;

function heading([column, title]: (typeof COLUMNS)[number], page: Page): TemplateResult {
  const here = page.sortedBy === column;
  return html`<th class="num" aria-sort=${here ? "descending" : nothing}><button class="sort" @click=${() =>
    page.actions.sort(column)}>${title}${here ? " ↓" : ""}</button></th>`;
}

const ordered = (groups: readonly RetraceGroup[], column: SortColumn): RetraceGroup[] =>
  [...groups].sort((a, b) => b[column] - a[column]);

function rows(group: RetraceGroup, page: Page, open: boolean): TemplateResult {
  const first = group.examples[0];
  const last = group.examples.at(-1);
  return html`<tbody><tr class=${open ? "sel" : ""}>
      <td class="nw"><button class="quiet sm tw" aria-expanded=${open ? "true" : "false"} aria-label=${`Traces of ${group.function}`}
        @click=${() => page.actions.card(key(group), !open)}>${open ? "▾" : "▸"}</button><code class="cut" title=${group.function}>${lastParts(group.function)}</code></td>
      <td class="mono s place" title=${group.location}>${group.location.split("/").at(-1) || "–"}</td>
      <td>${prose(reasonOf(group))}</td>
      <td class="num">${count(group.count)}</td><td class="num">${ledgerSeconds(group.seconds, page.report?.wall_seconds)}</td>
      <td class="num">${stepTime(first?.seconds)}</td><td class="num">${stepTime(last?.seconds)}</td>
      <td><sd-spark class="ticks" role="img" aria-label=${`From step ${count(group.first_step)} to ${count(group.last_step)}`} .cause=${"retracing"} .bars=${group.spark}></sd-spark></td>
      <td class="fix">${fix(group, page)}</td>
    </tr>${open ? examples(group, page) : nothing}</tbody>`;
}

/** The last two dotted parts of a name. */
const lastParts = (name: string): string => name.split(".").slice(-2).join(".");

/** Leads to the card that has the fix as code, where there is one. */
function fix(group: RetraceGroup, page: Page): TemplateResult {
  return isNamed(page)
    ? html`<button class="link" title="Show the fix" @click=${() => page.actions.showCard("retracing")}>${prose(group.fix)}</button>`
    : prose(group.fix);
}

const FEW = 4;

/** The first and the latest traces; all that were sent on demand. */
function examples(group: RetraceGroup, page: Page): TemplateResult {
  const all = `${key(group)}|all`;
  const many = group.examples.length > FEW;
  const every = !many || page.open(all, false);
  const shown = every
    ? group.examples
    : [...group.examples.slice(0, FEW / 2), ...group.examples.slice(-FEW / 2)];
  const hidden = group.count - shown.length;
  return html`<tr class="inner"><td colspan="9"><table>
    <thead><tr><th class="num">Step</th><th>Argument</th><th>Was</th><th>Now</th><th class="num">Graph built in</th><th class="num">First execution</th><th class="num">Total</th><th class="num">Operations</th></tr></thead>
    <tbody>${shown.map((example) => traceRows(example, page))}${
      hidden > 0 || many
        ? html`<tr><td colspan="8" class="q">${hidden > 0 ? `${plural(hidden, "more trace")} in between, for the same reason.` : ""} ${
            many
              ? html`<button class="quiet sm" @click=${() => page.actions.card(all, !every)}>${every ? "Show fewer" : `Show ${count(group.examples.length)}`}</button>`
              : nothing
          }</td></tr>`
        : nothing
    }</tbody></table></td></tr>`;
}

/** One line for each argument that differed; what the trace cost stands on the first. */
function traceRows(example: RetraceExample, page: Page): TemplateResult[] {
  const changes = example.changes.length > 0 ? example.changes : [undefined];
  const rows = page.whole?.timeline.rows ?? example.row + 1;
  const around = padded(between(example.row - 10, example.row + 10), 0, rows);
  return changes.map(
    (change, index) => html`<tr>
      <td class="num">${
        index > 0
          ? nothing
          : html`<button class="link" title="Show this step" @click=${() => page.actions.showRows(around)}>${count(example.step)}</button>`
      }</td>
      <td>${change === undefined ? "–" : html`<code>${change.argument || "–"}</code>`}</td>
      ${[change?.before, change?.after].map(
        (value) =>
          html`<td title=${value ?? nothing}><code>${shortened(value ?? "") || "–"}</code></td>`,
      )}
      ${[
        stepTime(example.building_seconds),
        stepTime(example.execution_seconds),
        stepTime(example.seconds),
        count(example.operations),
      ].map((text) => html`<td class="num">${index > 0 ? nothing : text}</td>`)}
    </tr>`,
  );
}
