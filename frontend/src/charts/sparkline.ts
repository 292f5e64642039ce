/** Seconds over the run in a strip of bars, on a scale of its own. */

import { causeKind } from "../catalog/causes";
import { CanvasElement, define } from "./canvas/canvas_element";
import type { Theme } from "./canvas/theme";

export class Spark extends CanvasElement {
  #bars: readonly number[] = [];
  #cause = "";
  #onset: number | undefined;

  set bars(bars: readonly number[]) {
    this.#bars = bars;
    this.redraw();
  }

  set cause(cause: string) {
    this.#cause = cause;
    this.redraw();
  }

  /** Where the dashed line stands, as a share of the run. */
  set onset(onset: number | undefined) {
    this.#onset = onset;
    this.redraw();
  }

  protected override draw(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    theme: Theme,
  ): void {
    const highest = scaleTop(this.#bars);
    const room = height - 5;
    const pitch = width / Math.max(1, this.#bars.length);
    // Bars of three pixels are too thin for a texture; the badge beside them tells the member.
    context.fillStyle = theme.colour(`f-${causeKind(this.#cause).family}`);
    this.#bars.forEach((value, index) => {
      const tall = Math.min(1, value / highest) * room;
      if (tall < 0.4) return;
      // Whole pixels: bars of one height and width look it.
      const [left, right] = [Math.round(index * pitch), Math.round((index + 1) * pitch)];
      context.fillRect(left, height - 1 - tall, Math.max(1, right - left - 1), tall);
    });
    context.fillStyle = theme.colour("line-strong");
    context.fillRect(0, height - 1, width, 1);
    if (this.#onset === undefined) return;
    context.strokeStyle = theme.colour("text");
    context.setLineDash([2, 2]);
    context.beginPath();
    const x = Math.round(this.#onset * (width - 1)) + 0.5;
    context.moveTo(x, 0);
    context.lineTo(x, height);
    context.stroke();
  }
}

/** One bar above three times the next is cut, or nothing else could be seen. */
export function scaleTop(bars: readonly number[]): number {
  const sorted = [...bars].sort((a, b) => b - a);
  const first = sorted[0] ?? 0;
  const second = sorted[1] ?? 0;
  return second > 0 ? Math.min(first, second * 3) : first || 1;
}

define("sd-spark", Spark);
