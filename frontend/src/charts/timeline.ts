/**
 * The timeline: all rows on one axis, with one cursor and one selection.
 *
 * It owns the cursor, which answers in the same frame; view and selection are its page's, which
 * it asks by events: `sd-view` and `sd-select` (a Window), `sd-jump` (to a change point).
 */

import { render } from "lit-html";
import { count, range, stepTime } from "../base/format";
import { atBucket, inView, Projection, type Scene } from "../model/scene";
import { bucketOfRow, stepOfRow, timeOfRow } from "../model/track";
import { between, shifted, span, type Window, whole as wholeRun, zoomed } from "../model/window";
import { define, sharpContext } from "./canvas";
import { Theme } from "./theme";
import { type GutterParts, gutter, tooltip, valueText } from "./timeline_gutter";
import type { Jump, TimelineInput } from "./timeline_input";
import { paint } from "./timeline_paint";
import { type Layout, layoutOf, rowOfKind } from "./timeline_rows";

const DRAG_PIXELS = 3;
const SPEECH_MILLISECONDS = 500;

export class TimelineElement extends HTMLElement {
  readonly #gutter = block("g");
  readonly #plot = block("plot");
  readonly #brush = block("brush");
  readonly #cursorLine = block("cur");
  readonly #tip = block("tip");
  readonly #speech = block("vh");
  readonly #canvas = document.createElement("canvas");
  readonly #observer = new ResizeObserver(() => this.#schedule());
  #theme: Theme | undefined;
  #input: TimelineInput | undefined;
  #layout: Layout = { rows: [], height: 0 };
  #parts: GutterParts | undefined;
  #cursor: number | undefined;
  #anchor: number | undefined;
  #drag: { readonly x: number; readonly row: number; moved: boolean } | undefined;
  #pending = false;
  #spoken = 0;
  #speechTimer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.#speech.setAttribute("aria-live", "polite");
    this.#brush.append(document.createElement("span"));
    this.#cursorLine.append(document.createElement("span"));
    this.#plot.append(this.#canvas, this.#brush, this.#cursorLine);
    this.#plot.addEventListener("pointerdown", (event) => this.#press(event));
    this.#plot.addEventListener("pointermove", (event) => this.#move(event));
    this.#plot.addEventListener("pointerup", () => this.#release());
    this.#plot.addEventListener("pointercancel", () => this.#release());
    this.#plot.addEventListener("pointerleave", () => this.#leave());
    this.#plot.addEventListener("dblclick", () => this.#zoomToSelection());
    this.#plot.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("focus", () => this.#place(true));
    this.addEventListener("blur", () => this.#leave());
  }

  connectedCallback(): void {
    if (this.#gutter.parentNode !== this) {
      this.append(this.#gutter, this.#plot, this.#tip, this.#speech);
      this.tabIndex = 0;
      this.setAttribute("role", "application");
    }
    this.#observer.observe(this);
    document.addEventListener("slowdown-theme", this.#retheme);
    this.#schedule();
  }

  disconnectedCallback(): void {
    this.#observer.disconnect();
    document.removeEventListener("slowdown-theme", this.#retheme);
    clearTimeout(this.#speechTimer);
  }

  set input(given: TimelineInput) {
    const before = this.#input;
    const input = { ...given, detail: inView(given.detail, given.view) };
    this.#input = input;
    if (
      before?.whole !== input.whole ||
      before.detail.layers.length !== input.detail.layers.length
    ) {
      this.#layout = layoutOf(input.whole);
      this.#plot.style.height = `${this.#layout.height}px`;
      this.ariaLabel = `Timeline of ${count(input.whole.timeline.rows)} steps. Arrow keys move the cursor, Shift extends the selection, plus and minus zoom.`;
      this.#parts = undefined;
    }
    if (this.#cursor !== undefined) {
      this.#cursor = Math.min(input.view.to - 1, Math.max(input.view.from, this.#cursor));
    }
    this.#schedule();
  }

  readonly #retheme = (): void => {
    this.#theme = undefined;
    this.#schedule();
  };

  #palette(): Theme {
    this.#theme ??= new Theme(this);
    return this.#theme;
  }

  #schedule(): void {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      if (this.isConnected) this.#draw();
    });
  }

  get #projection(): Projection | undefined {
    const input = this.#input;
    const width = this.#plot.clientWidth;
    if (input === undefined || width === 0) return undefined;
    return new Projection(input.detail.track, input.view, input.axis, width);
  }

  #draw(): void {
    const input = this.#input;
    const projection = this.#projection;
    if (input === undefined || projection === undefined) return;
    const context = sharpContext(this.#canvas, projection.width, this.#layout.height);
    if (context === null) return;
    const start = input.whole.track.times[0] ?? 0;
    const theme = this.#palette();
    paint({ context, theme, scene: input.detail, projection, layout: this.#layout, start });
    render(gutter(input, this.#layout), this.#gutter);
    this.#parts = {
      values: new Map(
        [...this.#gutter.querySelectorAll<HTMLElement>("[data-value]")].map((element) => [
          element.dataset.value ?? "",
          element,
        ]),
      ),
    };
    this.#place(false);
  }

  /** Puts cursor, selection and values where they belong; touches no canvas. */
  #place(speak: boolean): void {
    const input = this.#input;
    const projection = this.#projection;
    if (input === undefined || projection === undefined) return;
    this.#placeBrush(input, projection);
    if (this.#cursor === undefined && document.activeElement === this) {
      this.#cursor = Math.floor((input.view.from + input.view.to) / 2);
    }
    const row = this.#cursor;
    const there = row !== undefined && input.detail.timeline.row.length > 0;
    this.#cursorLine.hidden = !there;
    this.#tip.hidden = !there || !(this.matches(":focus-visible") || this.#plot.matches(":hover"));
    if (!there) return;
    const { track, timeline } = input.detail;
    const bucket = bucketOfRow(track, row);
    const x = Math.min(projection.width - 1, Math.max(0, projection.x(row + 0.5)));
    this.#cursorLine.style.transform = `translateX(${x}px)`;
    const label = this.#cursorLine.firstElementChild as HTMLElement;
    label.textContent = count(stepOfRow(track, row));
    label.className = x > projection.width - 60 ? "left" : "";
    for (const [key, element] of this.#parts?.values ?? []) {
      element.textContent = valueText(key, input, row);
    }
    const first = stepOfRow(track, timeline.row[bucket] ?? 0);
    const last = stepOfRow(track, (track.rows[bucket + 1] ?? 1) - 1);
    const since = timeOfRow(track, row) - (input.whole.track.times[0] ?? 0);
    render(tooltip(input.detail, bucket, range(first, last), since), this.#tip);
    this.#placeTip(x, projection.width);
    if (speak) this.#say(input.detail, bucket, range(first, last));
  }

  #placeBrush(input: TimelineInput, projection: Projection): void {
    const { selection } = input;
    this.#brush.hidden = selection === undefined;
    if (selection === undefined) return;
    const left = Math.max(-2, projection.x(selection.from));
    const right = Math.min(projection.width + 2, projection.x(selection.to));
    this.#brush.hidden = right < 0 || left > projection.width;
    this.#brush.style.left = `${left}px`;
    this.#brush.style.width = `${Math.max(1, right - left)}px`;
    const label = this.#brush.firstElementChild as HTMLElement;
    const { track } = input.detail;
    label.textContent = range(
      stepOfRow(track, Math.round(selection.from)),
      stepOfRow(track, Math.round(selection.to) - 1),
    );
    label.style.top = `${rowOfKind(this.#layout, "axis").top + 24}px`;
    const middle = (left + right) / 2;
    const half = label.offsetWidth / 2;
    const inside = Math.min(projection.width - half, Math.max(half, middle));
    label.style.left = `${inside - left}px`;
  }

  #placeTip(x: number, width: number): void {
    if (this.#tip.hidden) return;
    const stack = rowOfKind(this.#layout, "stack");
    const wide = this.#tip.offsetWidth + 12;
    const left = x + wide > width ? x - wide : x + 12;
    this.#tip.style.left = `${this.#gutter.offsetWidth + Math.max(4, left)}px`;
    this.#tip.style.top = `${stack.top + stack.height * 0.62}px`;
  }

  /** At most twice a second, the last place the cursor came to. */
  #say(scene: Scene, bucket: number, steps: string): void {
    clearTimeout(this.#speechTimer);
    const wait = Math.max(0, this.#spoken + SPEECH_MILLISECONDS - performance.now());
    this.#speechTimer = setTimeout(() => {
      this.#spoken = performance.now();
      const mean = scene.timeline.step_seconds.mean[bucket];
      const largest = atBucket(scene, bucket).filter((line) => line.id !== "healthy")[0];
      const lost =
        largest === undefined
          ? ""
          : `, ${stepTime(largest.seconds)} of it ${largest.id.replaceAll("_", " ")}`;
      this.#speech.textContent = `Steps ${steps}: ${stepTime(mean)} a step${lost}`;
    }, wait);
  }

  #rowAt(event: MouseEvent): number | undefined {
    const projection = this.#projection;
    const input = this.#input;
    if (projection === undefined || input === undefined) return undefined;
    const row = Math.floor(projection.row(event.clientX - this.#plot.getBoundingClientRect().left));
    const { from, to } = input.view;
    return Math.min(Math.ceil(to) - 1, Math.max(Math.floor(from), row));
  }

  #press(event: PointerEvent): void {
    if (event.button !== 0) return;
    const row = this.#rowAt(event);
    if (row === undefined) return;
    this.#plot.setPointerCapture(event.pointerId);
    this.#drag = { x: event.clientX, row, moved: false };
  }

  #move(event: PointerEvent): void {
    const row = this.#rowAt(event);
    if (row === undefined) return;
    this.#cursor = row;
    const drag = this.#drag;
    if (drag !== undefined) {
      drag.moved ||= Math.abs(event.clientX - drag.x) > DRAG_PIXELS;
      if (drag.moved) this.#select(between(drag.row, row));
    }
    this.#place(false);
  }

  #release(): void {
    this.#drag = undefined;
  }

  #leave(): void {
    if (this.#drag === undefined && !this.matches(":focus-visible")) this.#tip.hidden = true;
  }

  #wheel(event: WheelEvent): void {
    const input = this.#input;
    if (input === undefined || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    const rows = input.whole.timeline.rows;
    if (event.shiftKey) {
      const by = ((event.deltaX || event.deltaY) / 1000) * span(input.view);
      this.#view(shifted(input.view, by, rows));
      return;
    }
    const pivot = this.#rowAt(event) ?? input.view.from;
    this.#view(zoomed(input.view, pivot, event.deltaY > 0 ? 1.25 : 0.8, rows));
  }

  #key(event: KeyboardEvent): void {
    const input = this.#input;
    if (input === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = input.whole.timeline.rows;
    const cursor = this.#cursor ?? Math.floor((input.view.from + input.view.to) / 2);
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#step(-1, event.shiftKey),
      ArrowRight: () => this.#step(1, event.shiftKey),
      Home: () => this.#go(0, event.shiftKey),
      End: () => this.#go(rows - 1, event.shiftKey),
      "+": () => this.#view(zoomed(input.view, cursor, 0.5, rows)),
      "=": () => this.#view(zoomed(input.view, cursor, 0.5, rows)),
      "-": () => this.#view(zoomed(input.view, cursor, 2, rows)),
      "0": () => this.#view(wholeRun(rows)),
      z: () => this.#zoomToSelection(),
      Z: () => this.#zoomToSelection(),
      "[": () => this.#jump(-1),
      "]": () => this.#jump(1),
      Escape: () => this.#select(undefined),
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #step(direction: 1 | -1, select: boolean): void {
    const input = this.#input;
    if (input === undefined) return;
    const { bucket_rows: rows } = input.detail.timeline;
    const from = this.#cursor ?? Math.floor((input.view.from + input.view.to) / 2);
    this.#go(from + direction * rows, select);
  }

  #go(row: number, select: boolean): void {
    const input = this.#input;
    if (input === undefined) return;
    const rows = input.whole.timeline.rows;
    const before = this.#cursor ?? row;
    this.#cursor = Math.min(rows - 1, Math.max(0, row));
    if (select) {
      this.#anchor ??= before;
      this.#select(between(this.#anchor, this.#cursor));
    } else {
      this.#anchor = undefined;
    }
    const { view } = input;
    if (this.#cursor < view.from) this.#view(shifted(view, this.#cursor - view.from, rows));
    else if (this.#cursor >= view.to) this.#view(shifted(view, this.#cursor + 1 - view.to, rows));
    this.#place(true);
  }

  #jump(direction: 1 | -1): void {
    const cursor = this.#cursor ?? -1;
    this.dispatchEvent(new CustomEvent<Jump>("sd-jump", { detail: { direction, cursor } }));
  }

  #zoomToSelection(): void {
    const input = this.#input;
    if (input === undefined) return;
    this.#view(input.selection ?? wholeRun(input.whole.timeline.rows));
  }

  #view(view: Window): void {
    this.dispatchEvent(new CustomEvent<Window>("sd-view", { detail: view }));
  }

  #select(selection: Window | undefined): void {
    this.dispatchEvent(new CustomEvent<Window | undefined>("sd-select", { detail: selection }));
  }
}

function block(name: string): HTMLDivElement {
  const element = document.createElement("div");
  element.className = name;
  return element;
}

define("sd-timeline", TimelineElement);
