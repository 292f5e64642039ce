/** What moved with it: the selection against the stretch before. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Change, Spread } from "../../api/wire/changed";
import { count, range, signed } from "../../base/format";
import { changeText, stretchBefore } from "../../model/changes/changed";
import { stepOfRow } from "../../model/timeline/track";
import type { Window } from "../../model/timeline/window";
import { type Page, type Shown, sealed } from "../contract";

const SHOW_SAME = "changed|same";

export const changed = sealed<undefined>({
  id: "changed",
  title: "What changed here?",
  anchor: "What changed",
  load: async () => undefined,
  view: (_, page) => {
    const { selection, whole } = page;
    if (selection === undefined || whole === undefined) return { body: hint };
    const before = stretchBefore(selection);
    const clear = html`<button class="sm quiet" @click=${() => page.actions.select(undefined)}>Clear selection</button>`;
    const here = steps(selection, page);
    if (before === undefined) {
      return {
        note: html`steps <b>${here}</b>`,
        tools: clear,
        body: html`<p class="empty">There are no steps before step ${here.split("–")[0]} to compare with. Select later steps.</p>`,
      };
    }
    const length = Math.round(before.to - before.from);
    return {
      note: html`steps <b>${here}</b> against the ${count(length)} steps before (${steps(before, page)}); most changed first`,
      tools: clear,
      body: result(page, here, length),
    };
  },
});

const hint = html`<p class="empty">Select steps on the timeline to see what changed: drag, or press <kbd>]</kbd> for the next change point.</p>`;

function steps(window: Window, page: Page): string {
  const track = page.detail?.track;
  if (track === undefined) return "";
  return range(
    stepOfRow(track, Math.round(window.from)),
    stepOfRow(track, Math.round(window.to) - 1),
  );
}

function result(page: Page, here: string, length: number): Shown["body"] {
  if (page.changesError !== undefined) {
    return html`<p class="empty">${page.changesError.message}</p>`;
  }
  if (page.changes === undefined) return html`<p class="empty" aria-busy="true">&nbsp;</p>`;
  const { changes } = page.changes;
  if (changes.length === 0) {
    return html`<p class="empty">Steps ${here} hold too few values to compare. Select more steps.</p>`;
  }
  const different = changes.filter((change) => change.kind !== "same");
  const all = page.open(SHOW_SAME, false);
  const shown = all ? changes : different;
  const same = changes.length - different.length;
  return html`${
    shown.length === 0
      ? html`<p class="empty">Nothing differs in steps ${here}: ${count(changes.length)} signals compared with the ${count(length)} steps before.</p>`
      : table(shown)
  }${
    same === 0
      ? nothing
      : html`<p class="q more">${count(same)} ${different.length > 0 ? "other " : ""}signals are within normal variation.
          <button class="quiet sm" @click=${() => page.actions.card(SHOW_SAME, !all)}>${all ? "Hide them" : `Show all ${count(changes.length)}`}</button></p>`
  }`;
}

function table(shown: readonly Change[]): TemplateResult {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Changes"><table class="fixed">
    <thead><tr><th class="c30">Signal</th><th class="num">Before</th><th class="num">Here</th><th class="num">Change</th><th class="bars">Before (gray), here (blue): 10–90%</th><th class="c30">Reading</th></tr></thead>
    <tbody>${shown.map(row)}</tbody></table></div>`;
}

function row(change: Change): TemplateResult {
  const { before, here, by } = change;
  const text = (value: number): string => changeText(value, change.unit, change.per_step);
  const difference = signed(change.difference, text);
  const strong = change.kind === "changed";
  return html`<tr><td>${change.title}</td>
    <td class="num" title=${by}>${text(before.level)}</td><td class="num" title=${by}>${text(here.level)}</td>
    <td class="num">${strong ? html`<b>${difference}</b>` : html`<span class="q">${difference}</span>`}</td>
    <td class="bars">${spreads(before, here)}</td>
    <td class=${strong ? "" : "q"}>${change.reading}</td></tr>`;
}

/** Two bars from the 10th to the 90th percentile with the level marked, on one scale. */
function spreads(before: Spread, here: Spread): TemplateResult {
  const low = Math.min(0, before.low, here.low);
  const high = Math.max(before.high, here.high, before.level, here.level);
  const place = (value: number): number => (high > low ? ((value - low) / (high - low)) * 100 : 0);
  const bar = (spread: Spread, kind: string): TemplateResult => html`<span class=${kind}>
      <i style=${`left:${place(spread.low)}%;width:${place(spread.high) - place(spread.low)}%`}></i>
      <u style=${`left:${place(spread.level)}%`}></u></span>`;
  return html`<span class="spread" aria-hidden="true">${bar(before, "was")}${bar(here, "is")}</span>`;
}
