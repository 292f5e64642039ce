/** Pointer, wheel and keys over the timeline: where the cursor goes, and what is asked for. */

import type { MarkKind } from "../../api/wire/timeline";
import type { Projection } from "../../model/timeline/scene";
import { bucketOfRow } from "../../model/timeline/track";
import {
  between,
  shifted,
  span,
  type Window,
  whole as wholeRun,
  zoomed,
} from "../../model/timeline/window";
import type { Jump, Point, TimelineInput } from "./timeline_input";

/** What the hands move. */
export interface Handled {
  readonly input: TimelineInput | undefined;
  readonly projection: Projection | undefined;
  cursor: number | undefined;
  /** What the ticks at a height of the window are. */
  markAt?(y: number): MarkKind | undefined;
  /** Puts the cursor where it belongs; `speak` tells a screen reader. */
  place(speak: boolean): void;
  /** The pointer has left. */
  leave(): void;
  ask(event: CustomEvent<Window | Jump | Point | null>): void;
}

const DRAG_PIXELS = 3;
/** A capture of ten steps is narrower than a finger. */
const NEAR_PIXELS = 6;
const CLOSER = 0.8;
const WIDER = 1.25;
/** Of the view, by A and D. */
const PAN = 0.25;
const WHEEL_PIXELS = 1000;

interface Drag {
  readonly x: number;
  readonly row: number;
  moved: boolean;
}

export class Interactions {
  #drag: Drag | undefined;
  /** The end of the selection that stays while Shift moves the other. */
  #anchor: number | undefined;
  /** Where the hand has put the cursor: neither where it hovers, nor the middle that it begins in. */
  #placed = -1;

  constructor(
    private readonly handled: Handled,
    private readonly plot: HTMLElement,
    keys: HTMLElement,
  ) {
    plot.addEventListener("pointerdown", (event) => this.#press(event));
    plot.addEventListener("pointermove", (event) => this.#move(event));
    plot.addEventListener("pointerup", ({ clientY }) => {
      const mark = this.handled.markAt?.(clientY);
      if (this.#drag?.moved === false) this.#point(this.#drag.row, this.#nearRows(), mark);
      this.#release();
    });
    plot.addEventListener("pointercancel", () => this.#release());
    plot.addEventListener("pointerleave", () => this.#drag ?? handled.leave());
    plot.addEventListener("dblclick", () => this.#zoomToSelection());
    plot.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    keys.addEventListener("keydown", (event) => this.#key(event));
  }

  #rowAt(event: MouseEvent): number | undefined {
    const { projection, input } = this.handled;
    if (projection === undefined || input === undefined) return undefined;
    const row = Math.floor(projection.row(event.clientX - this.plot.getBoundingClientRect().left));
    const { from, to } = input.view;
    return Math.min(Math.ceil(to) - 1, Math.max(Math.floor(from), row));
  }

  #press(event: PointerEvent): void {
    const row = this.#rowAt(event);
    if (event.button !== 0 || row === undefined) return;
    this.plot.setPointerCapture(event.pointerId);
    this.#drag = { x: event.clientX, row, moved: false };
    this.#placed = row;
  }

  #move(event: PointerEvent): void {
    const row = this.#rowAt(event);
    if (row === undefined) return;
    this.handled.cursor = row;
    const drag = this.#drag;
    if (drag !== undefined) {
      drag.moved ||= Math.abs(event.clientX - drag.x) > DRAG_PIXELS;
      if (drag.moved) this.#select(between(drag.row, row));
    }
    this.handled.place(false);
  }

  #release(): void {
    this.#drag = undefined;
  }

  /** A plain wheel scrolls the page; with Ctrl it zooms, with Shift it pans. */
  #wheel(event: WheelEvent): void {
    const { input } = this.handled;
    if (input === undefined || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
    event.preventDefault();
    const rows = input.whole.timeline.rows;
    if (event.shiftKey) {
      const by = ((event.deltaX || event.deltaY) / WHEEL_PIXELS) * span(input.view);
      this.#view(shifted(input.view, by, rows));
      return;
    }
    const pivot = this.#rowAt(event) ?? input.view.from;
    this.#view(zoomed(input.view, pivot, event.deltaY > 0 ? WIDER : CLOSER, rows));
  }

  #key(event: KeyboardEvent): void {
    const { input } = this.handled;
    if (input === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = input.whole.timeline.rows;
    const zoom = (factor: number) => (): void =>
      this.#view(zoomed(input.view, this.#cursor(input), factor, rows));
    const step = input.detail.timeline.bucket_rows;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => this.#go(this.#cursor(input) - step, event.shiftKey, input),
      ArrowRight: () => this.#go(this.#cursor(input) + step, event.shiftKey, input),
      Home: () => this.#go(0, event.shiftKey, input),
      End: () => this.#go(rows - 1, event.shiftKey, input),
      "+": zoom(1 / 2),
      "=": zoom(1 / 2),
      "-": zoom(2),
      "0": () => this.#view(wholeRun(rows)),
      z: () => this.#zoomToSelection(),
      f: () => this.#zoomToSelection(),
      w: zoom(1 / 2),
      s: zoom(2),
      a: () => this.#view(shifted(input.view, -PAN * span(input.view), rows)),
      d: () => this.#view(shifted(input.view, PAN * span(input.view), rows)),
      m: () => this.#select({ from: Math.round(input.view.from), to: Math.round(input.view.to) }),
      "[": () => this.#jump(-1),
      "]": () => this.#jump(1),
      Enter: () => this.#point(this.#cursor(input), Number.POSITIVE_INFINITY),
      Escape: () => this.#select(undefined),
    };
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  }

  #cursor(input: TimelineInput): number {
    return this.handled.cursor ?? Math.floor((input.view.from + input.view.to) / 2);
  }

  #go(to: number, select: boolean, input: TimelineInput): void {
    const rows = input.whole.timeline.rows;
    const row = Math.min(rows - 1, Math.max(0, to));
    if (select) {
      this.#anchor ??= this.#cursor(input);
      this.#select(between(this.#anchor, row));
    } else {
      this.#anchor = undefined;
    }
    this.handled.cursor = row;
    this.#placed = row;
    const { view } = input;
    if (row < view.from) this.#view(shifted(view, row - view.from, rows));
    else if (row >= view.to) this.#view(shifted(view, row + 1 - view.to, rows));
    this.handled.place(true);
  }

  /** Points at the bucket of a row: what is drawn as one can't be told apart. */
  #point(row: number, within: number, mark?: MarkKind): void {
    const track = this.handled.input?.detail.track;
    if (track === undefined) return;
    const bucket = bucketOfRow(track, row);
    const rows = { from: track.rows[bucket] ?? row, to: track.rows[bucket + 1] ?? row + 1 };
    this.handled.ask(new CustomEvent<Point>("sd-point", { detail: { rows, within, mark } }));
  }

  #nearRows(): number {
    const { projection } = this.handled;
    return projection === undefined ? 0 : projection.row(NEAR_PIXELS) - projection.row(0);
  }

  #jump(direction: 1 | -1): void {
    const detail = { direction, cursor: this.#placed };
    this.handled.ask(new CustomEvent<Jump>("sd-jump", { detail }));
  }

  #zoomToSelection(): void {
    const { input } = this.handled;
    if (input === undefined) return;
    this.#view(input.selection ?? wholeRun(input.whole.timeline.rows));
  }

  #view(detail: Window): void {
    this.handled.ask(new CustomEvent<Window>("sd-view", { detail }));
  }

  /** An event's detail is null where there is none. */
  #select(selection: Window | undefined): void {
    const detail = selection ?? null;
    this.handled.ask(new CustomEvent<Window | null>("sd-select", { detail }));
  }
}
