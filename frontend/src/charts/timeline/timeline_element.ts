/**
 * The timeline: all rows on one axis, with one cursor and one selection.
 *
 * It owns the cursor, which answers in the same frame; view and selection are its page's, which
 * it asks by events: `sd-view` and `sd-select` (a Window), `sd-jump` (to a change point),
 * `sd-point` (steps were clicked) and `sd-layer` (a cause in the legend was).
 */

import { render } from "lit-html";
import type { MarkKind } from "../../api/wire/timeline";
import { count, range } from "../../base/format";
import { fitted } from "../../model/timeline/lane";
import { inView, Projection } from "../../model/timeline/scene";
import { bucketOfRow, stepOfRow, timeOfRow } from "../../model/timeline/track";
import { define, sharpContext } from "../canvas/canvas_element";
import { Theme } from "../canvas/theme";
import { Announcer } from "./announcer";
import { gutter, tooltip, valueText } from "./gutter";
import { type Handled, Interactions } from "./interactions";
import { paint } from "./paint/paint";
import { type Layout, layoutOf, rowOfKind } from "./rows";
import type { TimelineInput } from "./timeline_input";

const LABEL_PIXELS = 60;

export class TimelineElement extends HTMLElement implements Handled {
  readonly #gutter = block("g");
  readonly #plot = block("plot");
  readonly #brush = block("brush");
  readonly #cursorLine = block("cur");
  readonly #tip = block("tip");
  readonly #canvas = document.createElement("canvas");
  readonly #announcer = new Announcer();
  readonly #observer = new ResizeObserver(() => this.#schedule());
  #theme: Theme | undefined;
  #input: TimelineInput | undefined;
  #layout: Layout = { rows: [], height: 0 };
  #values: readonly HTMLElement[] = [];
  #pending = false;
  /** A row. */
  cursor: number | undefined;

  constructor() {
    super();
    this.#brush.append(document.createElement("span"));
    this.#cursorLine.append(document.createElement("span"));
    this.#plot.append(this.#canvas, this.#brush, this.#cursorLine);
    new Interactions(this, this.#plot, this);
    this.addEventListener("focus", () => this.place(true));
    this.addEventListener("blur", () => this.leave());
  }

  connectedCallback(): void {
    if (this.#gutter.parentNode !== this) {
      this.append(this.#gutter, this.#plot, this.#tip, this.#announcer.element);
      this.tabIndex = 0;
      this.setAttribute("role", "application");
    }
    this.#observer.observe(this);
    document.addEventListener("slowdown-theme", this.#retheme);
    document.addEventListener("slowdown-draw", this.#drawNow);
    this.#schedule();
  }

  disconnectedCallback(): void {
    this.#observer.disconnect();
    document.removeEventListener("slowdown-theme", this.#retheme);
    document.removeEventListener("slowdown-draw", this.#drawNow);
    this.#announcer.silence();
  }

  get input(): TimelineInput | undefined {
    return this.#input;
  }

  set input(given: TimelineInput) {
    const before = this.#input;
    if (
      before?.whole !== given.whole ||
      before.allLanes !== given.allLanes ||
      before.captures.length !== given.captures.length
    ) {
      this.#layout = layoutOf(given.whole, given.allLanes, given.captures.length);
      this.#plot.style.height = `${this.#layout.height}px`;
      this.ariaLabel = `Timeline of ${count(given.whole.timeline.rows)} steps. Arrow keys move the cursor, Shift extends the selection, plus and minus zoom, Enter opens the nearest trace.`;
    }
    const { from, to } = given.view;
    const lanes = this.#layout.rows.flatMap(({ lane }) =>
      lane ? [fitted(given.detail.lanes.find(({ id }) => id === lane.id) ?? lane, from, to)] : [],
    );
    this.#input = { ...given, detail: { ...inView(given.detail, given.view), lanes } };
    if (this.cursor !== undefined) {
      // The cursor never leaves the view.
      this.cursor = Math.min(given.view.to - 1, Math.max(given.view.from, this.cursor));
    }
    this.#schedule();
  }

  get projection(): Projection | undefined {
    const input = this.#input;
    const width = this.#plot.clientWidth;
    if (input === undefined || width === 0) return undefined;
    return new Projection(input.detail.track, input.view, input.axis, width);
  }

  markAt(y: number): MarkKind | undefined {
    const at = y - this.#plot.getBoundingClientRect().top;
    return this.#layout.rows.find((row) => at >= row.top && at < row.top + row.height)?.mark;
  }

  ask(event: CustomEvent): void {
    this.dispatchEvent(event);
  }

  leave(): void {
    if (!this.matches(":focus-visible")) this.#tip.hidden = true;
  }

  readonly #retheme = (): void => {
    this.#theme = undefined;
    this.#schedule();
  };

  readonly #drawNow = (): void => {
    this.#theme = undefined;
    this.#draw();
  };

  #schedule(): void {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame(() => {
      this.#pending = false;
      if (this.isConnected) this.#draw();
    });
  }

  #draw(): void {
    const input = this.#input;
    const projection = this.projection;
    if (input === undefined || projection === undefined) return;
    const context = sharpContext(this.#canvas, projection.width, this.#layout.height);
    if (context === null) return;
    this.paintOn(context);
    render(gutter(input, this.#layout), this.#gutter);
    this.#values = [...this.#gutter.querySelectorAll<HTMLElement>("[data-value]")];
    this.place(false);
  }

  /** Paints what is in view on the canvas, or on what does as one. */
  paintOn(context: CanvasRenderingContext2D): void {
    const input = this.#input;
    const projection = this.projection;
    if (input === undefined || projection === undefined) return;
    this.#theme ??= new Theme(this);
    paint({
      context,
      theme: this.#theme,
      scene: input.detail,
      projection,
      layout: this.#layout,
      captures: input.captures,
      start: input.whole.track.times[0] ?? 0,
    });
  }

  /** What a pattern of the painting repeats. */
  tile(pattern: CanvasPattern): string {
    return this.#theme?.tile(pattern) ?? "";
  }

  /** Puts cursor, selection and values where they belong; touches no canvas. */
  place(speak: boolean): void {
    const input = this.#input;
    const projection = this.projection;
    if (input === undefined || projection === undefined) return;
    this.#placeBrush(input, projection);
    if (this.cursor === undefined && document.activeElement === this) {
      this.cursor = Math.floor((input.view.from + input.view.to) / 2);
    }
    const row = this.cursor;
    const there = row !== undefined && input.detail.timeline.row.length > 0;
    this.#cursorLine.hidden = !there;
    this.#tip.hidden = !there || !(this.matches(":focus-visible") || this.#plot.matches(":hover"));
    if (!there) return;
    const x = Math.min(projection.width - 1, Math.max(0, projection.x(row + 0.5)));
    this.#placeCursor(input, row, x, projection.width);
    this.#tell(input, row, x, projection.width, speak);
  }

  #placeCursor(input: TimelineInput, row: number, x: number, width: number): void {
    this.#cursorLine.style.transform = `translateX(${x}px)`;
    const label = this.#cursorLine.firstElementChild as HTMLElement;
    label.textContent = count(stepOfRow(input.detail.track, row));
    label.className = x > width - LABEL_PIXELS ? "left" : "";
    for (const element of this.#values) {
      element.textContent = valueText(element.dataset.value ?? "", input, row);
    }
  }

  #tell(input: TimelineInput, row: number, x: number, width: number, speak: boolean): void {
    const { track, timeline } = input.detail;
    const bucket = bucketOfRow(track, row);
    const steps = range(
      stepOfRow(track, timeline.row[bucket] ?? 0),
      stepOfRow(track, (track.rows[bucket + 1] ?? 1) - 1),
    );
    if (speak) this.#announcer.say(input.detail, bucket, steps);
    if (this.#tip.hidden) return;
    const since = timeOfRow(track, row) - (input.whole.track.times[0] ?? 0);
    render(tooltip(input.detail, bucket, steps, since, input.retraces), this.#tip);
    const stack = rowOfKind(this.#layout, "stack");
    const wide = this.#tip.offsetWidth + 12;
    const left = x + wide > width ? x - wide : x + 12;
    this.#tip.style.left = `${this.#gutter.offsetWidth + Math.max(4, left)}px`;
    // It ends with the stack, whose figures it has: the step times below stay in sight.
    const top = stack.top + stack.height - this.#tip.offsetHeight;
    this.#tip.style.top = `${Math.max(0, top)}px`;
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
    const half = label.offsetWidth / 2;
    const middle = Math.min(projection.width - half, Math.max(half, (left + right) / 2));
    label.style.left = `${middle - left}px`;
  }
}

function block(name: string): HTMLDivElement {
  const element = document.createElement("div");
  element.className = name;
  return element;
}

define("sd-timeline", TimelineElement);
