/** Which function was traced again, because of which argument. */

import { html, nothing, type TemplateResult } from "lit-html";
import "../charts/spark";
import type { RetraceGroup, Retraces } from "../api/types";
import { count, ledgerSeconds, plural, stepTime } from "../base/format";
import { reasonOf } from "../model/retrace";
import { between, padded } from "../model/window";
import { type Page, sealed } from "./panel";
import { prose } from "./parts";

export const retraces = sealed<Retraces>({
  id: "retraces",
  title: "Retraces",
  anchor: "Retraces",
  reserve: 96,
  load: (source) => source.retraces(),
  view: (data, page) => {
    const empty = emptyText(data);
    if (empty !== undefined) return { body: html`<p class="empty">${empty}</p>` };
    const functions = new Set(data.groups.map((group) => group.function)).size;
    return {
      note: `${count(data.traces)} after the first trace of each function; ${plural(functions, "function")}, ${ledgerSeconds(data.seconds)}`,
      body: table(data, page),
    };
  },
});

function emptyText(data: Retraces): string | undefined {
  const { status, reason } = data.status;
  if (data.groups.length > 0) return undefined;
  if (status !== "measured" && status !== "partly") {
    return `Retraces were not measured: ${reason || status}. Step times are complete.`;
  }
  return `No function was traced again after its first trace. ${plural(data.watched, "function")} watched.`;
}

function table(data: Retraces, page: Page): TemplateResult {
  return html`<div class="scroll"><table>
    <thead><tr><th>Function</th><th>Place</th><th>Why it was traced again</th><th class="num">Count</th><th class="num" aria-sort="descending">Seconds ↓</th><th class="num">First</th><th class="num">Last</th><th>When</th><th>Fix</th></tr></thead>
    ${data.groups.map((group, index) => rows(group, page, page.open(key(group), index === 0)))}
    <tfoot><tr><td colspan="3">All</td><td class="num">${count(data.traces)}</td><td class="num">${ledgerSeconds(data.seconds)}</td><td colspan="4"></td></tr></tfoot>
  </table></div>`;
}

/** What a row is called where open cards are kept; a comma parts them there. */
const key = (group: RetraceGroup): string =>
  ["trace", group.function, group.location, group.cause, group.argument, group.what]
    .join("|")
    .replaceAll(",", ";");

function rows(group: RetraceGroup, page: Page, open: boolean): TemplateResult {
  const first = group.examples[0];
  const last = group.examples.at(-1);
  return html`<tbody><tr class=${open ? "sel" : ""}>
      <td class="nw"><button class="quiet sm tw" aria-expanded=${open ? "true" : "false"} aria-label=${`Traces of ${group.function}`}
        @click=${() => page.actions.card(key(group), !open)}>${open ? "▾" : "▸"}</button><code>${group.function}</code></td>
      <td class="mono s place">${group.location || "–"}</td>
      <td>${prose(reasonOf(group))}</td>
      <td class="num">${count(group.count)}</td><td class="num">${ledgerSeconds(group.seconds)}</td>
      <td class="num">${stepTime(first?.seconds)}</td><td class="num">${stepTime(last?.seconds)}</td>
      <td><sd-spark class="ticks" role="img" aria-label=${`From step ${count(group.first_step)} to ${count(group.last_step)}`} .cause=${"retracing"} .bars=${group.spark}></sd-spark></td>
      <td>${prose(group.fix)}</td>
    </tr>${open ? examples(group, page) : nothing}</tbody>`;
}

function examples(group: RetraceGroup, page: Page): TemplateResult {
  const hidden = group.count - group.examples.length;
  return html`<tr class="inner"><td colspan="9"><table>
    <thead><tr><th class="num">Step</th><th>Argument</th><th>Was</th><th>Now</th><th class="num">Graph built in</th><th class="num">First execution</th><th class="num">In all</th><th class="num">Operations</th></tr></thead>
    <tbody>${group.examples.map((example) => {
      const changes = example.changes.length > 0 ? example.changes : [undefined];
      const rows = page.whole?.timeline.rows ?? example.row + 1;
      return changes.map(
        (change, index) => html`<tr>
          <td class="num">${
            index > 0
              ? nothing
              : html`<button class="link" title="Show this step" @click=${() =>
                  page.actions.showRows(
                    padded(between(example.row - 10, example.row + 10), 0, rows),
                  )}>${count(example.step)}</button>`
          }</td>
          <td>${change === undefined ? "–" : html`<code>${change.argument || "–"}</code>`}</td>
          <td><code>${change?.before || "–"}</code></td><td><code>${change?.after || "–"}</code></td>
          <td class="num">${index > 0 ? nothing : stepTime(example.building_seconds)}</td>
          <td class="num">${index > 0 ? nothing : stepTime(example.execution_seconds)}</td>
          <td class="num">${index > 0 ? nothing : stepTime(example.seconds)}</td>
          <td class="num">${index > 0 ? nothing : count(example.operations)}</td>
        </tr>`,
      );
    })}${
      hidden > 0
        ? html`<tr><td colspan="8" class="q">${plural(hidden, "more trace")} in between, for the same reason.</td></tr>`
        : nothing
    }</tbody></table></td></tr>`;
}
