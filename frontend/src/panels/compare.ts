/** What differs from the good run: ledgers term by term. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { RunReport } from "../api/types";
import { count, ledgerSeconds, percent, signed, stepTime } from "../base/format";
import { badge } from "../charts/timeline_gutter";
import { causeKind } from "../model/causes";
import { type Comparison, compare, type Difference, differenceReading } from "../model/compare";
import { HEALTHY } from "../model/ledger";
import { type Page, sealed } from "./panel";

export const comparison = sealed<RunReport>({
  id: "compare",
  title: "Compare",
  anchor: "Compare",
  load: (source) => source.report(),
  view: (report, page) => {
    const others = page.compared
      .map((run) => page.reports.get(run))
      .filter((one): one is RunReport => one !== undefined && !(one instanceof Error));
    const broken = page.compared.filter((run) => page.reports.get(run) instanceof Error);
    const problems = broken.map(
      (run) => html`<p class="empty">The report of <bdi>${run}</bdi> could not be read.</p>`,
    );
    if (others.length === 0) {
      return { tools: chooser(page, "Choose a run"), body: html`${empty(page)}${problems}` };
    }
    const table = compare([...others, report]);
    return {
      note: noteOf(table),
      tools: html`${page.compared.map(
        (run) =>
          html`<button class="sm" title=${`Take ${run} out of the comparison`} @click=${() =>
            page.actions.compare(
              page.compared.filter((one) => one !== run),
            )}><bdi class="cut">${run}</bdi> ×</button>`,
      )}${chooser(page, "+ Run")}`,
      body: html`${tableOf(table)}${problems}`,
    };
  },
});

function empty(page: Page): TemplateResult {
  if (page.runs.length < 2) {
    return html`<p class="empty">This logdir has one run. A second one of the same program shows which seconds differ.</p>`;
  }
  return html`<p class="empty">Choose a second run to see which seconds differ. A good choice is the last healthy run of this program.</p>`;
}

function chooser(page: Page, label: string): TemplateResult {
  const rest = page.runs.filter(
    (run) => run.run !== page.run.run && !page.compared.includes(run.run),
  );
  if (rest.length === 0) return html``;
  return html`<select aria-label="Run to compare with" @change=${(event: Event) => {
    const select = event.target as HTMLSelectElement;
    const run = select.value;
    select.value = "";
    if (run !== "") page.actions.compare([...page.compared, run]);
  }}><option value="">${label}</option>${rest.map(
    (run) => html`<option value=${run.run}>${run.run}</option>`,
  )}</select>`;
}

const amount = (table: Comparison, value: number): string =>
  table.perStep ? stepTime(value) : ledgerSeconds(value, table.total.values[0]);

function noteOf(table: Comparison): TemplateResult {
  const [first] = table.runs;
  const last = table.runs.at(-1);
  const { difference } = table.total;
  const much = amount(table, Math.abs(difference));
  const word = difference > 0 ? "longer" : "shorter";
  return html`<b><bdi>${last?.run}</bdi></b> against <b><bdi>${first?.run}</bdi></b>, ${
    table.perStep
      ? `by what a step takes (${count(last?.steps)} and ${count(first?.steps)} steps)`
      : `the same ${count(last?.steps)} steps`
  }: ${much} ${word}`;
}

function tableOf(table: Comparison): TemplateResult {
  const largest = Math.max(...table.rows.map((row) => Math.abs(row.difference)), 1e-12);
  const [first] = table.runs;
  const last = table.runs.at(-1);
  return html`<div class="scroll"><table>
    <thead><tr><th>Ledger</th>${table.runs.map((run) => html`<th class="num"><bdi class="cut" title=${run.run}>${run.run}</bdi></th>`)}<th class="num">Difference</th><th class="c30">shorter ← 0 → longer</th><th>Reading</th></tr></thead>
    <tbody>${table.rows.map((row) => line(table, row, largest))}</tbody>
    <tfoot><tr><td>Run</td>${table.total.values.map((value) => html`<td class="num">${amount(table, value)}</td>`)}
      <td class=${tone(table.total)}>${difference(table, table.total)}</td><td></td>
      <td class="q plainest">lost ${percent(first?.lost_fraction)} against ${percent(last?.lost_fraction)}</td></tr></tfoot>
  </table></div>`;
}

const tone = (row: Difference): string =>
  `num ${row.real ? (row.difference > 0 ? "bad" : "good") : "q"}`;

const difference = (table: Comparison, row: Difference): string =>
  signed(row.difference, (value) => amount(table, value));

function line(table: Comparison, row: Difference, largest: number): TemplateResult {
  const healthy = row.id === HEALTHY;
  const kind = causeKind(row.id);
  const share = Math.min(49, (Math.abs(row.difference) / largest) * 49);
  const side = row.difference < 0 ? "right" : "left";
  return html`<tr><td class="nw">${badge(row.id)} ${healthy ? "Healthy" : kind.name}</td>
    ${row.values.map((value) => html`<td class="num">${amount(table, value)}</td>`)}
    <td class=${tone(row)}>${row.real ? html`<b>${difference(table, row)}</b>` : difference(table, row)}</td>
    <td>${
      row.difference === 0
        ? nothing
        : html`<span class="db"><i class=${healthy ? "h" : `f-${kind.family}`} style=${`${side}:50%;width:${share.toFixed(2)}%`}></i></span>`
    }</td>
    <td class=${row.real ? "" : "q"}>${differenceReading(row)}</td></tr>`;
}
