/** The list of captures, and two of them compared. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { CaptureComparison, CaptureEntry, CaptureRow } from "../api/wire/captures";
import { bytes, count, decimal, signed, stepTime } from "../base/format";
import { type OpenTrace, PART_NAMES, type Pair, pairOf, shortName } from "../model/captures";
import { between } from "../model/timeline/window";
import { define } from "./canvas/canvas_element";
import { prose } from "./trace_view";

interface Source {
  readonly run: string;
  compareCaptures(fast: string, slow: string): Promise<CaptureComparison>;
}

const MOST_ROWS = 15;

export class Captures extends HTMLElement {
  #source: Source | undefined;
  #captures: readonly CaptureEntry[] = [];
  #show: (first: number, last: number) => void = () => undefined;
  #pair: Pair | undefined;
  #opened: string | undefined;
  #comparison: CaptureComparison | undefined;
  #problem = "";

  set source(source: Source) {
    if (source.run !== this.#source?.run) {
      this.#pair = undefined;
      this.#comparison = undefined;
    }
    this.#source = source;
  }

  set captures(captures: readonly CaptureEntry[]) {
    const same =
      captures.map((one) => one.id).join() === this.#captures.map((one) => one.id).join();
    this.#captures = captures;
    if (!same || this.#pair === undefined) {
      this.#pair = pairOf(captures);
      void this.#compare();
    }
    this.#draw();
  }

  /** The capture that stands beside the timeline. */
  set opened(id: string | undefined) {
    this.#opened = id;
    this.#draw();
  }

  open: (trace: OpenTrace) => void = () => undefined;

  set show(show: (first: number, last: number) => void) {
    this.#show = show;
  }

  async #compare(): Promise<void> {
    const pair = this.#pair;
    if (pair === undefined || this.#source === undefined) return;
    try {
      const found = await this.#source.compareCaptures(pair.fast, pair.slow);
      if (this.#pair === pair) this.#comparison = found;
    } catch (error) {
      this.#problem = (error as Error).message;
    }
    this.#draw();
  }

  #choose(side: keyof Pair, id: string): void {
    const pair = this.#pair ?? { fast: id, slow: id };
    this.#pair = { ...pair, [side]: id };
    this.#comparison = undefined;
    void this.#compare();
    this.#draw();
  }

  #draw(): void {
    render(
      html`${this.#list()}${this.#problem === "" ? nothing : html`<p class="empty" role="status">${this.#problem}</p>`}${this.#pair === undefined ? nothing : this.#compared()}`,
      this,
    );
  }

  #list(): TemplateResult {
    return html`<div class="scroll"><table class="captures">
      <thead><tr><th>Capture</th><th class="num">Steps</th><th class="num">Median step</th><th class="num">Size</th><th>What it adds</th><th>Use as</th></tr></thead>
      <tbody>${this.#captures.map((one) => this.#entry(one))}</tbody>
    </table></div>`;
  }

  #entry(one: CaptureEntry): TemplateResult {
    const { first_row: first, last_row: last } = one;
    const side = (name: keyof Pair): TemplateResult =>
      html`<button class="sm" aria-pressed=${
        this.#pair?.[name] === one.id ? "true" : "false"
      } @click=${() => this.#choose(name, one.id)}>${name}</button>`;
    return html`<tr class=${this.#opened === one.id ? "sel" : ""}>
      <td class="nw"><button class="link" @click=${() => this.open({ id: one.id })}>${one.session}</button>${
        one.automatic === null ? nothing : html` <span class="q">taken when ${one.automatic}</span>`
      }</td>
      <td class="num">${
        typeof first === "number" && typeof last === "number"
          ? html`<button class="link" title="Show these steps" @click=${() => this.#show(first, last)}>${count(one.first_step)}–${count(one.last_step)}</button>`
          : "outside"
      }</td>
      <td class="num">${stepTime(one.step_seconds)}</td><td class="num">${bytes(one.bytes)}</td>
      <td>${prose(one.error ?? one.adds?.[0] ?? "Open it to see.")}</td>
      <td class="nw">${one.error === undefined ? html`${side("fast")} ${side("slow")}` : nothing}</td></tr>`;
  }

  #compared(): TemplateResult {
    const found = this.#comparison;
    if (found === undefined)
      return html`<p class="empty" role="status">Comparing two captures.</p>`;
    const largest = Math.max(...found.rows.map((row) => Math.abs(row.difference)), 1e-12);
    return html`<h3>Fast against slow, one step <span class="q">mean of each capture's steps</span></h3>
      <p class="headline">${prose(found.headline)}</p>
      <div class="scroll" tabindex="0" role="group" aria-label="Fast step and slow step"><table class="against">
        <thead><tr><th>Operation, stage, copy, or gap</th><th>Part of the step</th><th class="num">Calls per step</th><th class="num">Fast</th><th class="num">Slow</th><th class="num">Difference</th><td class="c30"></td></tr></thead>
        <tbody>${found.rows.slice(0, MOST_ROWS).map((row) => this.#difference(found, row, largest))}</tbody>
        <tfoot><tr><td colspan="3">Whole step</td><td class="num">${stepTime(found.fast_seconds)}</td><td class="num">${stepTime(found.slow_seconds)}</td>
          <td class="num">${signed(found.slow_seconds - found.fast_seconds, stepTime)}</td><td></td></tr></tfoot>
      </table></div>`;
  }

  /** One line; its times lead to where it took longest in either trace. */
  #difference(found: CaptureComparison, row: CaptureRow, largest: number): TemplateResult {
    const lead = (id: string, place: number | null, seconds: number): TemplateResult =>
      place === null
        ? html`${stepTime(seconds)}`
        : html`<button class="link" title="Open the trace where it takes longest" @click=${() =>
            this.open({ id, at: between(place, place) })}>${stepTime(seconds)}</button>`;
    const share = Math.min(49, (Math.abs(row.difference) / largest) * 49);
    const side = row.difference < 0 ? "right" : "left";
    return html`<tr><td><code title=${row.name}>${shortName(row.kind, row.name)}</code></td>
    <td class="q">${PART_NAMES[row.part]}</td><td class="num">${decimal(row.slow_calls, 1)}</td>
    <td class="num">${lead(found.fast, row.fast_place, row.fast_seconds)}</td><td class="num">${lead(found.slow, row.slow_place, row.slow_seconds)}</td>
    <td class=${row.difference > 0 ? "num bad" : "num good"}>${signed(row.difference, stepTime)}</td>
    <td><span class="db"><i class="h" style=${`${side}:50%;width:${share.toFixed(2)}%`}></i></span></td></tr>`;
  }
}

define("sd-captures", Captures);
