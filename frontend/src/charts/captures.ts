/** The list of captures, the step that is open in one of them, and two of them compared. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { Capture, CaptureComparison, CaptureEntry, CaptureRow, StepPart } from "../api/types";
import { bytes, count, decimal, signed, stepTime } from "../base/format";
import {
  PART_NAMES,
  PARTS,
  type Pair,
  pairOf,
  shortName,
  stepName,
  viewerAddress,
} from "../model/captures";
import { spans } from "../model/text";
import { define } from "./canvas";

interface Source {
  readonly run: string;
  capture(id: string, step?: number): Promise<Capture>;
  compareCaptures(fast: string, slow: string): Promise<CaptureComparison>;
  hasTraceViewer(): Promise<boolean>;
}

const MOST_ITEMS = 12;
const MOST_ROWS = 15;

const prose = (sentence: string): TemplateResult =>
  html`${spans(sentence).map((span) => (span.code ? html`<code>${span.text}</code>` : span.text))}`;

export class Captures extends HTMLElement {
  #source: Source | undefined;
  #captures: readonly CaptureEntry[] = [];
  #show: (first: number, last: number) => void = () => undefined;
  #pair: Pair | undefined;
  #open: Capture | undefined;
  #comparison: CaptureComparison | undefined;
  #problem = "";
  #viewer: "closed" | "open" | "missing" = "closed";
  /** Of the newest question: answers to older ones are dropped. */
  #turn = 0;

  set source(source: Source) {
    if (source.run !== this.#source?.run) {
      this.#pair = undefined;
      this.#open = undefined;
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

  async #openCapture(id: string, step?: number): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    try {
      const found = await this.#source?.capture(id, step);
      if (turn !== this.#turn || found === undefined) return;
      this.#open = found;
      this.#problem = "";
    } catch (error) {
      if (turn === this.#turn) this.#problem = (error as Error).message;
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

  async #openViewer(): Promise<void> {
    this.#viewer = (await this.#source?.hasTraceViewer()) ? "open" : "missing";
    this.#draw();
  }

  #draw(): void {
    render(
      html`${this.#list()}${this.#problem === "" ? nothing : html`<p class="empty" role="status">${this.#problem}</p>`}${
        this.#open === undefined ? nothing : this.#opened(this.#open)
      }${this.#pair === undefined ? nothing : this.#compared()}`,
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
    return html`<tr class=${this.#open?.id === one.id ? "sel" : ""}>
      <td class="nw"><button class="link" @click=${() => void this.#openCapture(one.id)}>${one.session}</button>${
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

  #opened(capture: Capture): TemplateResult {
    const { steps } = capture;
    const last = Math.min(steps.count, steps.seconds.length) - 1;
    const step = capture.step ?? undefined;
    const go = (to: number | undefined): void => void this.#openCapture(capture.id, to);
    const row = step === undefined ? undefined : steps.row[step];
    return html`<h3>${step === undefined ? `Mean of ${count(steps.count)} steps` : stepName(capture, step)}
        <span class="q">of ${capture.id}, host ${capture.host}</span></h3>
      <div class="acts">
        <button class="sm" ?disabled=${step === 0} @click=${() => go(step === undefined ? last : step - 1)}>‹ Step before</button>
        <button class="sm" ?disabled=${step === last} @click=${() => go(step === undefined ? 0 : step + 1)}>Next step ›</button>
        <button class="sm" ?disabled=${step === undefined} @click=${() => go(undefined)}>All steps</button>
        ${typeof row === "number" ? html`<button class="sm" @click=${() => this.#show(row, row)}>Show on the timeline</button>` : nothing}
        <button class="sm" @click=${() => void this.#openViewer()}>Open here</button>
      </div>
      <ul class="bullets">${[...capture.adds, ...capture.notes].map((said) => html`<li>${prose(said)}</li>`)}</ul>
      ${this.#parts(capture, step)}${this.#items(capture)}${this.#viewerOf(capture, step)}`;
  }

  #parts(capture: Capture, step: number | undefined): TemplateResult {
    const of = (part: StepPart): number => {
      const spent = capture.steps.parts[part];
      if (step !== undefined) return spent[step] ?? 0;
      return spent.reduce((sum, one) => sum + one, 0) / Math.max(1, spent.length);
    };
    return html`<p>${PARTS.filter((part) => of(part) > 0).map(
      (part, index) =>
        html`${index === 0 ? "" : " + "}${PART_NAMES[part]} <b>${stepTime(of(part))}</b>`,
    )} = <b>${stepTime(PARTS.reduce((sum, part) => sum + of(part), 0))}</b></p>`;
  }

  #items(capture: Capture): TemplateResult {
    return html`<div class="scroll"><table>
      <thead><tr><th>Operation, stage or copy</th><th>Part of the step</th><th class="num">Calls in the capture</th><th class="num">Of the step</th></tr></thead>
      <tbody>${capture.items.slice(0, MOST_ITEMS).map(
        (
          item,
        ) => html`<tr><td><code title=${item.name}>${shortName(item.kind, item.name)}</code></td>
          <td class="q">${PART_NAMES[item.part]}</td>
          <td class="num">${count(item.calls)}</td><td class="num">${stepTime(item.seconds)}</td></tr>`,
      )}</tbody></table></div>`;
  }

  #viewerOf(capture: Capture, step: number | undefined): TemplateResult | typeof nothing {
    if (this.#viewer === "closed") return nothing;
    if (this.#viewer === "missing") {
      return html`<p class="empty" role="status">XProf's trace viewer is not installed beside this TensorBoard. <code>pip install xprof</code> and start TensorBoard again; what is above needs nothing.</p>`;
    }
    return html`<iframe class="viewer" title=${`Trace viewer of XProf: ${step === undefined ? capture.id : stepName(capture, step)}`}
      src=${viewerAddress(capture, step, document.baseURI)}></iframe>`;
  }

  #compared(): TemplateResult {
    const found = this.#comparison;
    if (found === undefined)
      return html`<p class="empty" role="status">Comparing two captures.</p>`;
    const largest = Math.max(...found.rows.map((row) => Math.abs(row.difference)), 1e-12);
    return html`<h3>Fast against slow, one step <span class="q">mean of each capture's steps</span></h3>
      <p class="headline">${prose(found.headline)}</p>
      <div class="scroll"><table class="against">
        <thead><tr><th>Operation, stage, copy or gap</th><th>Part of the step</th><th class="num">Calls a step</th><th class="num">Fast</th><th class="num">Slow</th><th class="num">Difference</th><th class="c30"></th></tr></thead>
        <tbody>${found.rows.slice(0, MOST_ROWS).map((row) => difference(row, largest))}</tbody>
        <tfoot><tr><td colspan="3">Whole step</td><td class="num">${stepTime(found.fast_seconds)}</td><td class="num">${stepTime(found.slow_seconds)}</td>
          <td class="num">${signed(found.slow_seconds - found.fast_seconds, stepTime)}</td><td></td></tr></tfoot>
      </table></div>`;
  }
}

function difference(row: CaptureRow, largest: number): TemplateResult {
  const share = Math.min(49, (Math.abs(row.difference) / largest) * 49);
  const side = row.difference < 0 ? "right" : "left";
  return html`<tr><td><code title=${row.name}>${shortName(row.kind, row.name)}</code></td>
    <td class="q">${PART_NAMES[row.part]}</td><td class="num">${decimal(row.slow_calls, 1)}</td>
    <td class="num">${stepTime(row.fast_seconds)}</td><td class="num">${stepTime(row.slow_seconds)}</td>
    <td class=${row.difference > 0 ? "num bad" : "num good"}>${signed(row.difference, stepTime)}</td>
    <td><span class="db"><i class="h" style=${`${side}:50%;width:${share.toFixed(2)}%`}></i></span></td></tr>`;
}

define("sd-captures", Captures);
