/** One capture beside the timeline: the trace viewer at the steps, and what the reader knows. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import type { Capture, CapturePart, StepPart } from "../api/wire/captures";
import { count, stepTime } from "../base/format";
import {
  chosenName,
  type OpenTrace,
  PART_NAMES,
  PARTS,
  shortName,
  stepBeside,
  viewerAddress,
} from "../model/captures";
import { spans } from "../model/text";
import { between, sameWindow, type Window } from "../model/timeline/window";
import { define } from "./canvas/canvas_element";
import { drawDevices, drawSteps } from "./capture_devices";

interface Source {
  readonly run: string;
  capture(id: string, part: CapturePart): Promise<Capture>;
  hasTraceViewer(): Promise<boolean>;
}

interface Actions {
  openTrace(trace: OpenTrace | undefined): void;
  showRows(window: Window): void;
}

interface Input extends OpenTrace {
  readonly source: Source;
}

const MOST_ITEMS = 12;

export const prose = (sentence: string): TemplateResult =>
  html`${spans(sentence).map((span) => (span.code ? html`<code>${span.text}</code>` : span.text))}`;

export class TraceView extends HTMLElement {
  actions: Actions | undefined;
  #input: Input | undefined;
  #capture: Capture | undefined;
  #problem = "";
  #hasViewer: boolean | undefined;
  /** Of the newest question: answers to older ones are dropped. */
  #turn = 0;

  set input(input: Input) {
    const before = this.#input;
    this.#input = input;
    const same =
      before?.id === input.id &&
      before.host === input.host &&
      before.source.run === input.source.run &&
      sameWindow(before.at, input.at);
    if (!same) void this.#load(input);
  }

  async #load({ id, host, at, source }: Input): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.ariaBusy = "true";
    try {
      const part = at && { first: Math.floor(at.from), last: Math.ceil(at.to) - 1 };
      const [found, hasViewer] = await Promise.all([
        source.capture(id, { ...(host === undefined ? {} : { host }), ...part }),
        this.#hasViewer ?? source.hasTraceViewer(),
      ]);
      if (turn !== this.#turn) return;
      this.#hasViewer = hasViewer;
      this.#capture = found;
      this.#problem = "";
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#capture = undefined;
      this.#problem = (error as Error).message;
    }
    this.ariaBusy = "false";
    this.#draw();
  }

  #draw(): void {
    render(
      html`${this.#problem === "" ? nothing : html`<p class="empty" role="status">${this.#problem}</p>`}
        ${this.#capture === undefined ? this.#close() : this.#opened(this.#capture)}`,
      this,
    );
  }

  #go(change: Partial<OpenTrace>): void {
    const { id, host, at } = { ...this.#input, ...change } as OpenTrace;
    this.actions?.openTrace({
      id,
      ...(host === undefined ? {} : { host }),
      ...(at === undefined ? {} : { at }),
    });
  }

  #close(): TemplateResult {
    return html`<button class="sm" aria-label="Close the trace" @click=${() => this.actions?.openTrace(undefined)}>×</button>`;
  }

  #opened(capture: Capture): TemplateResult {
    const step = (direction: 1 | -1, name: string): TemplateResult => {
      const to = stepBeside(capture, direction);
      return html`<button class="sm" ?disabled=${to === undefined} @click=${() => this.#go({ at: to as Window })}>${name}</button>`;
    };
    const { chosen } = capture;
    const rows = chosen?.map((index) => capture.steps.row[index]);
    const [first, last] = rows ?? [];
    return html`<h3>${chosenName(capture)}
        <span class="q">of ${capture.session}, host ${this.#hosts(capture)}</span></h3>
      <div class="acts">${step(-1, "‹ Step before")}${step(1, "Next step ›")}
        <button class="sm" ?disabled=${chosen === null} @click=${() => this.actions?.openTrace({ id: capture.id, host: capture.host })}>All steps</button>
        ${
          typeof first === "number" && typeof last === "number"
            ? html`<button class="sm" @click=${() => this.actions?.showRows(between(first, last))}>Show on the timeline</button>`
            : nothing
        }${this.#close()}
      </div>
      ${this.#viewer(capture)}
      ${parts(capture)}
      ${drawSteps(capture, (place) => this.#go({ at: between(place, place) }))}
      ${drawDevices(capture)}
      <ul class="bullets">${[...capture.adds, ...capture.notes].map((said) => html`<li>${prose(said)}</li>`)}</ul>
      ${items(capture)}`;
  }

  #hosts({ host, hosts }: Capture): TemplateResult | string {
    if (hosts.length < 2) return host;
    return html`<select aria-label="Host" @change=${(event: Event) =>
      this.#go({ host: (event.target as HTMLSelectElement).value })}>${hosts.map(
      (one) => html`<option ?selected=${one === host}>${one}</option>`,
    )}</select>`;
  }

  #viewer(capture: Capture): TemplateResult {
    return this.#hasViewer
      ? html`<iframe class="viewer" title=${`Trace viewer of XProf: ${chosenName(capture)}`}
          src=${viewerAddress(capture, document.baseURI)}></iframe>`
      : html`<p class="empty" role="status">To see the trace itself, <code>pip install xprof</code> in TensorBoard's environment and restart it. The summary below works without it.</p>`;
  }
}

function parts(capture: Capture): TemplateResult {
  const [first, last] = capture.chosen ?? [0, Number.POSITIVE_INFINITY];
  const of = (part: StepPart): number => {
    const spent = capture.steps.parts[part].slice(first, last + 1);
    return spent.reduce((sum, one) => sum + one, 0) / Math.max(1, spent.length);
  };
  return html`<p>${PARTS.filter((part) => of(part) > 0).map(
    (part, index) =>
      html`${index === 0 ? "" : " + "}${PART_NAMES[part]} <b>${stepTime(of(part))}</b>`,
  )} = <b>${stepTime(PARTS.reduce((sum, part) => sum + of(part), 0))}</b></p>`;
}

function items(capture: Capture): TemplateResult {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Operations"><table>
    <thead><tr><th>Operation, stage, or copy</th><th>Part of the step</th><th class="num">Calls in the capture</th><th class="num">Of the step</th></tr></thead>
    <tbody>${capture.items.slice(0, MOST_ITEMS).map(
      (item) => html`<tr><td><code title=${item.name}>${shortName(item.kind, item.name)}</code></td>
        <td class="q">${PART_NAMES[item.part]}</td>
        <td class="num">${count(item.calls)}</td><td class="num">${stepTime(item.seconds)}</td></tr>`,
    )}</tbody></table></div>`;
}

define("sd-trace", TraceView);
