/** What differs from the good run: ledgers term by term. */

import { html, type TemplateResult } from "lit-html";
import "../../charts/comparison_chart";
import { plural } from "../../base/format";
import { sidesOf } from "../../model/run/comparison";
import { middle } from "../../model/runs/groups";
import type { Content, Page, Source } from "../contract";

/** Of the name on a button. */
const CHIP_LETTERS = 28;

export const comparison: Content<Source> = {
  load: (source) => Promise.resolve(source),
  view: (source, page) => {
    if (page.compared.length === 0) {
      return { tools: chooser(page, "Choose a run"), body: empty(page) };
    }
    const sides = sidesOf(page.run.run, page.compared, page.repeats);
    return {
      note: sides.isPooled
        ? html`${named(sides.runs, page)} against ${named(sides.base, page)}`
        : `${plural(page.compared.length + 1, "run")} side by side`,
      tools: html`${page.compared.map(
        (run) =>
          html`<button class="sm" title=${`Remove ${titleOf(run, page)} from the comparison`} @click=${() =>
            page.actions.compare(
              page.compared.filter((one) => one !== run),
            )}><bdi class="cut">${middle(titleOf(run, page), CHIP_LETTERS)}</bdi> ×</button>`,
      )}${page.compared.length > 1 ? repeatsBox(page) : ""}${chooser(page, "+ Run")}`,
      body: html`<sd-comparison .source=${source} .sides=${sides} .called=${(run: string) => titleOf(run, page)}></sd-comparison>`,
    };
  },
};

/** Only the reader knows which runs are of one program and its settings. */
const repeatsBox = (page: Page): TemplateResult =>
  html`<label class="check"><input type="checkbox" .checked=${page.repeats} @change=${() => page.actions.repeats(!page.repeats)}> Repeats of one program</label>`;

/** Repeats by their number: the buttons beside the note have their names. */
const named = (runs: readonly string[], page: Page): TemplateResult => {
  const [only] = runs;
  const one = only !== undefined && runs.length === 1;
  return html`<b><bdi>${one ? titleOf(only, page) : plural(runs.length, "repeat")}</bdi></b>`;
};

const titleOf = (run: string, page: Page): string =>
  page.runs.find((one) => one.run === run)?.title ?? run;

function empty(page: Page): TemplateResult {
  if (page.runs.length < 2) {
    return html`<p class="empty">This logdir has one run. A second run of the same program shows where the time differs.</p>`;
  }
  return html`<p class="empty">Choose a run to compare with, ideally the last healthy one. Several runs appear side by side, or count as repeats of one program; use three or more per side.</p>`;
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
    (run) => html`<option value=${run.run}>${run.title}</option>`,
  )}</select>`;
}
