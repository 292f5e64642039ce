/** Several runs in columns, each against the first. */

import { html, type TemplateResult } from "lit-html";
import type { Difference, SideBySide } from "../api/wire/comparison";
import { signed, stepTime } from "../base/format";
import { isDifferent, reading } from "../model/run/comparison";
import { middle } from "../model/runs/groups";
import { termTitle, told } from "./term_title";

const LETTERS = 28;

/** Settings first: what was changed is most often why. */
export function columns(found: SideBySide, called: (run: string) => string): TemplateResult {
  const others = found.runs.slice(1).map((run, index) => ({ run, place: index + 1 }));
  const head = (label: string): TemplateResult =>
    html`<tr><th>${label}</th>${found.runs.map((run) => html`<th class="num" title=${called(run)}><bdi>${middle(called(run), LETTERS)}</bdi></th>`)}</tr>`;
  const reasons = others.flatMap(({ run, place }) =>
    (found.reasons[place] ?? []).map(
      (reason) => html`<li><bdi>${called(run)}</bdi>: ${told(reason)}</li>`,
    ),
  );
  return html`<div role="status"><ul class="headlines">${others.map(
    ({ run, place }) => html`<li><bdi>${called(run)}</bdi>: ${found.headlines[place]}.</li>`,
  )}${reasons}</ul></div>
    <div class="scroll" tabindex="0" role="group" aria-label="Runs side by side"><table class="beside">
      <thead>${head(`Per ${found.unit}`)}</thead>
      <tbody>${found.settings.map(
        ({ name, values }) =>
          html`<tr><td>${name.replaceAll("_", " ")}</td>${values.map((value) => html`<td class="num">${value}</td>`)}</tr>`,
      )}${found.terms
        .filter((row) => Math.max(...row.seconds) > 0)
        .map(
          (row) =>
            html`<tr><td class="nw">${termTitle(row.term)}</td>${row.seconds.map((seconds, place) =>
              cell(seconds, row.differences[place] ?? null, found.totals[place] ?? null),
            )}</tr>`,
        )}</tbody>
      <tfoot><tr><td>Sum</td>${found.step_seconds.map((seconds, place) => cell(seconds, found.totals[place] ?? null))}</tr>
        <tr><td class="q">Warm-up</td>${found.warm_up_seconds.map((seconds) => html`<td class="num q">${stepTime(seconds)}</td>`)}</tr></tfoot>
    </table></div>
    <p class="q">Differences are against <bdi>${called(found.runs[0] ?? "")}</bdi> and add up to the sum; bold: significant.</p>`;
}

/** Seconds, and the difference from the first run with what it means. */
function cell(seconds: number, difference: Difference | null, total = difference): TemplateResult {
  if (difference === null || difference.difference_seconds === 0) {
    return html`<td class="num">${stepTime(seconds)}</td>`;
  }
  const sure = isDifferent(difference.outcome);
  const tone = sure ? (difference.difference_seconds > 0 ? "bad" : "good") : "q";
  const change = signed(difference.difference_seconds, stepTime);
  return html`<td class="num" title=${reading(difference, total)}>${stepTime(seconds)} <span class=${tone}>${sure ? html`<b>${change}</b>` : change}</span></td>`;
}
