/** Two groups of runs, term by term: asked for when the sides change. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { Difference, RunComparison } from "../api/wire/comparison";
import { signed, stepTime } from "../base/format";
import { causeKind, HEALTHY } from "../catalog/causes";
import { isDifferent, reading, type Sides } from "../model/run/comparison";
import { badge } from "./badge";
import { define } from "./canvas/canvas_element";

interface Source {
  comparison(base: readonly string[], runs: readonly string[]): Promise<RunComparison>;
}

export class Comparison extends HTMLElement {
  #source: Source | undefined;
  #sides: Sides | undefined;
  #found: RunComparison | undefined;
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
    let found: RunComparison | undefined;
    let problem = "";
    try {
      found = await source.comparison(sides.base, sides.runs);
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
          : tableOf(this.#found),
      this,
    );
  }
}

function tableOf(found: RunComparison): TemplateResult {
  const terms = found.terms.filter((term) => term.base_seconds > 0 || term.with_seconds > 0);
  const reach = Math.max(...terms.flatMap((term) => term.interval_seconds.map(Math.abs)), 1e-12);
  const { warm_up: warmUp, unit } = found;
  return html`<p class="headline" role="status">${found.headline}.</p>
    <div class="scroll"><table>
      <thead><tr><th>A ${unit}</th><th class="num">Before</th><th class="num">Now</th><th class="num">Difference</th><th class="num">between</th><th class="c30">shorter ← 0 → longer</th><th>Reading</th></tr></thead>
      <tbody>${terms.map((term) => line(term, title(term.term), reach))}</tbody>
      <tfoot>${line(found.total, html`Sum`, 0)}${line(found.quiet, html`Its faster half`, 0)}</tfoot>
    </table></div>
    <p class="q">${(found.changes ?? []).map((change) => `${change.text} `)}The true difference lies between these bounds in 99.5 of 100 comparisons. Warm-up is not in it: ${stepTime(warmUp.base_seconds)} a run before, ${stepTime(warmUp.with_seconds)} now. ${found.notes.join(" ")}</p>`;
}

function title(term: string): TemplateResult {
  return html`${badge(term)} ${term === HEALTHY ? "Healthy" : causeKind(term).name}`;
}

function line(term: Difference, name: TemplateResult, reach: number): TemplateResult {
  const sure = isDifferent(term.outcome);
  const tone = sure ? (term.difference_seconds > 0 ? "bad" : "good") : "q";
  const change = signed(term.difference_seconds, stepTime);
  const [low, high] = term.interval_seconds;
  return html`<tr><td class="nw">${name}</td>
    <td class="num">${stepTime(term.base_seconds)}</td><td class="num">${stepTime(term.with_seconds)}</td>
    <td class=${`num ${tone}`}>${sure ? html`<b>${change}</b>` : change}</td>
    <td class="num q nw">${signed(low, stepTime)} … ${signed(high, stepTime)}</td>
    <td>${reach === 0 ? nothing : bar(term, reach)}</td>
    <td class=${sure ? "" : "q"}>${reading(term)}</td></tr>`;
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
