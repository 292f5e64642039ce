/** Two groups of runs, term by term: asked for when the sides change. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { Difference, RunComparison, SideBySide } from "../api/wire/comparison";
import { plural, signed, stepTime } from "../base/format";
import { causeKind, HEALTHY } from "../catalog/causes";
import { isDifferent, reading, type Sides } from "../model/run/comparison";
import { middle } from "../model/runs/groups";
import { define } from "./canvas/canvas_element";
import { columns } from "./side_by_side";
import { termTitle, told } from "./term_title";

interface Source {
  comparison(base: readonly string[], runs: readonly string[]): Promise<RunComparison>;
  sideBySide(runs: readonly string[]): Promise<SideBySide>;
}

const LETTERS = 28;

export class Comparison extends HTMLElement {
  #source: Source | undefined;
  #sides: Sides | undefined;
  #found: RunComparison | SideBySide | undefined;
  /** What a person calls a run. */
  called: (run: string) => string = (run) => run;
  #problem = "";

  /** A new source means that the run has grown. */
  set source(source: Source) {
    if (source === this.#source) return;
    this.#source = source;
    void this.#ask();
  }

  set sides(sides: Sides) {
    if (JSON.stringify(sides) === JSON.stringify(this.#sides)) return;
    this.#sides = sides;
    this.#found = undefined;
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const source = this.#source;
    const sides = this.#sides;
    if (source === undefined || sides === undefined) return;
    this.#draw();
    let found: RunComparison | SideBySide | undefined;
    let problem = "";
    try {
      found = await (sides.isPooled
        ? source.comparison(sides.base, sides.runs)
        : source.sideBySide([...sides.base, ...sides.runs]));
    } catch (error) {
      if ((error as Error).name === "AbortError") return;
      problem = (error as Error).message;
    }
    if (this.#source !== source || this.#sides !== sides) return;
    this.#found = found;
    this.#problem = problem;
    this.#draw();
  }

  #draw(): void {
    render(
      this.#problem !== ""
        ? html`<p class="empty" role="status">${this.#problem}</p>`
        : this.#found === undefined
          ? html`<p class="empty" role="status">Comparing.</p>`
          : "terms" in this.#found && "total" in this.#found
            ? tableOf(this.#found, this.called)
            : columns(this.#found, this.called),
      this,
    );
  }
}

function tableOf(found: RunComparison, called: (run: string) => string): TemplateResult {
  const side = (runs: readonly string[]): string =>
    runs.length === 1 ? called(runs[0] ?? "") : plural(runs.length, "repeat");
  const [base, other] = [side(found.base), side(found.other)];
  const terms = found.terms.filter((term) => term.base_seconds > 0 || term.with_seconds > 0);
  const all = [...terms, found.total, found.quiet];
  const reach = Math.max(...all.flatMap((term) => term.interval_seconds.map(Math.abs)), 1e-12);
  const { warm_up: warmUp, unit } = found;
  return html`<p class="headline" role="status">${found.headline}.</p>
    ${differing(found)}
    <div class="scroll" tabindex="0" role="group" aria-label="Comparison"><table>
      <thead><tr><th>Per ${unit}</th>${[base, other].map((name) => html`<th class="num" title=${name}><bdi>${middle(name, LETTERS)}</bdi></th>`)}<th class="num">Difference</th><th class="num">99.5% interval</th><th class="c30">shorter ← 0 → longer</th><th>Reading</th></tr></thead>
      <tbody>${terms.map((term) => line(term, termTitle(term.term), reach, found.total))}</tbody>
      <tfoot>${line(found.total, html`Sum`, reach, found.total)}${line(found.quiet, html`Fastest 50% of ${unit}s`, reach, found.total)}</tfoot>
    </table></div>
    <p class="q">${(found.changes ?? []).map((change) => `${change.text} `)}Bar: difference; line: its 99.5% interval. Warm-up isn't included: ${stepTime(warmUp.base_seconds)} in ${base}, ${stepTime(warmUp.with_seconds)} in ${other}. ${found.notes.join(" ")}</p>`;
}

/** Settings first: what was changed is most often why. */
function differing({
  settings = [],
  reasons = [],
}: RunComparison): TemplateResult | typeof nothing {
  if (settings.length + reasons.length === 0) return nothing;
  return html`<ul class="headlines">${settings.map(
    ({ name, base, other }) =>
      html`<li>${name.replaceAll("_", " ")}: <b>${base}</b> to <b>${other}</b></li>`,
  )}${reasons.map((reason) => html`<li>${told(reason)}</li>`)}</ul>`;
}

function line(
  term: Difference,
  name: TemplateResult,
  reach: number,
  total: Difference,
): TemplateResult {
  const sure = isDifferent(term.outcome);
  const tone = sure ? (term.difference_seconds > 0 ? "bad" : "good") : "q";
  const change = signed(term.difference_seconds, stepTime);
  const [low, high] = term.interval_seconds;
  return html`<tr><td class="nw">${name}</td>
    <td class="num">${stepTime(term.base_seconds)}</td><td class="num">${stepTime(term.with_seconds)}</td>
    <td class=${`num ${tone}`}>${sure ? html`<b>${change}</b>` : change}</td>
    <td class="num q nw">${signed(low, stepTime)} … ${signed(high, stepTime)}</td>
    <td>${bar(term, reach)}</td>
    <td class=${sure ? "" : "q"}>${reading(term, total)}</td></tr>`;
}

/** The difference from the middle, and its interval as a thin line. */
function bar(term: Difference, reach: number): TemplateResult {
  const half = (seconds: number): number => (seconds / reach) * 49;
  const kind = term.term === HEALTHY ? "h" : `f-${causeKind(term.term).family}`;
  const width = Math.abs(half(term.difference_seconds)).toFixed(2);
  const side = term.difference_seconds < 0 ? "right" : "left";
  const [low, high] = term.interval_seconds;
  const span = `left:${(50 + half(low)).toFixed(2)}%;width:${half(high - low).toFixed(2)}%`;
  return html`<span class="db"><i class=${kind} style=${`${side}:50%;width:${width}%`}></i><u style=${span}></u></span>`;
}

define("sd-comparison", Comparison);
