/** The whole run in one strip, with the part in view as a window that can be dragged. */

import type { Window } from "../../model/timeline/window";
import { CanvasElement, define } from "../canvas/canvas_element";
import type { Theme } from "../canvas/theme";

export interface Overview {
  /** Mean seconds a step, bucket by bucket, and the top of their axis. */
  readonly heights: readonly number[];
  readonly top: number;
  readonly rows: number;
  readonly view: Window;
}

export class OverviewStrip extends CanvasElement {
  #overview: Overview | undefined;
  readonly #frame = document.createElement("div");
  #grabbed: { readonly x: number; readonly from: number } | undefined;

  constructor() {
    super();
    this.#frame.className = "win";
    this.addEventListener("pointerdown", (event) => this.#grab(event));
    this.addEventListener("pointermove", (event) => this.#drag(event));
    this.addEventListener("pointerup", () => {
      this.#grabbed = undefined;
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.append(this.#frame);
  }

  set overview(overview: Overview) {
    const same = this.#overview?.heights === overview.heights;
    this.#overview = overview;
    const { view, rows } = overview;
    this.#frame.style.left = `${(100 * view.from) / rows}%`;
    this.#frame.style.width = `${(100 * (view.to - view.from)) / rows}%`;
    if (!same) this.redraw();
  }

  protected override draw(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    theme: Theme,
  ): void {
    if (this.#overview === undefined) return;
    const { heights, top } = this.#overview;
    const pitch = width / Math.max(1, heights.length);
    const y = (value: number): number => height - 4 - Math.min(1, value / top) * (height - 10);
    context.beginPath();
    context.moveTo(0, height);
    heights.forEach((value, index) => {
      context.lineTo(index * pitch, y(value));
      context.lineTo((index + 1) * pitch, y(value));
    });
    context.strokeStyle = theme.colour("line-strong");
    context.stroke();
    context.lineTo(width, height);
    context.fillStyle = theme.colour("bg-3");
    context.fill();
  }

  #rowAt(event: PointerEvent): number {
    const box = this.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * (this.#overview?.rows ?? 1);
  }

  #grab(event: PointerEvent): void {
    if (this.#overview === undefined) return;
    const { view } = this.#overview;
    const row = this.#rowAt(event);
    const inside = row >= view.from && row <= view.to;
    const from = inside ? view.from : row - (view.to - view.from) / 2;
    this.setPointerCapture(event.pointerId);
    this.#grabbed = { x: row, from };
    if (!inside) this.#move(from);
  }

  #drag(event: PointerEvent): void {
    if (this.#grabbed === undefined) return;
    this.#move(this.#grabbed.from + this.#rowAt(event) - this.#grabbed.x);
  }

  #move(from: number): void {
    this.dispatchEvent(new CustomEvent<number>("sd-pan", { detail: from }));
  }
}

define("sd-overview", OverviewStrip);
