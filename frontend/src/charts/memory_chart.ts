/** Memory over the run: lines in neutral ink with their names at the right end. */

import { byteScale, bytes, count } from "../base/format";
import { niceBytes, niceTicks } from "../base/ticks";
import type { MemorySeries } from "../model/run/memory";
import { CanvasElement, define } from "./canvas/canvas_element";
import { linear, traceLine } from "./canvas/lines";
import type { Theme } from "./canvas/theme";

const LEFT = 60;
const RIGHT = 148;
const BOTTOM = 18;
const TOP = 8;
const LINE = 14;

export interface MemoryInput {
  readonly series: readonly MemorySeries[];
  readonly rows: number;
  /** Step number of a row. */
  readonly stepOf: (row: number) => number;
}

export class MemoryChart extends CanvasElement {
  #input: MemoryInput | undefined;

  set input(input: MemoryInput) {
    this.#input = input;
    this.redraw();
  }

  protected override draw(
    context: CanvasRenderingContext2D,
    width: number,
    height: number,
    theme: Theme,
  ): void {
    const input = this.#input;
    if (input === undefined) return;
    const highest = Math.max(0, ...input.series.map((one) => one.peak ?? 0));
    const top = niceBytes(highest * 1.02);
    const unit = byteScale(top);
    const box = {
      left: LEFT,
      top: TOP,
      width: width - LEFT - RIGHT,
      height: height - TOP - BOTTOM,
    };
    const y = linear(0, top, box);
    const x = (row: number): number => LEFT + (row / Math.max(1, input.rows - 1)) * box.width;
    context.font = theme.font();
    for (const tick of niceTicks(0, top / 1024 ** unit, 4)) {
      const value = tick * 1024 ** unit;
      context.fillStyle = theme.colour("line");
      context.fillRect(LEFT, Math.round(y(value)), box.width, 1);
      context.fillStyle = theme.colour("text-2");
      context.textAlign = "right";
      context.fillText(bytes(value, unit).replace(/\.0+ /, " "), LEFT - 6, y(value) + 4);
    }
    for (const row of niceTicks(0, input.rows - 1, box.width / 110).filter(Number.isInteger)) {
      context.fillStyle = theme.colour("text-2");
      context.textAlign = row === 0 ? "left" : "center";
      context.fillText(count(input.stepOf(row)), x(row), height - 4);
    }
    const labels = input.series.map((series, index) => {
      context.beginPath();
      traceLine(context, series.row.map(x), series.value, y);
      context.strokeStyle = theme.colour(index === 0 ? "text" : "text-2");
      context.lineWidth = index === 0 ? 2 : 1.25;
      context.setLineDash(
        series.role === "limit" ? [6, 3] : /peak/i.test(series.title) ? [3, 2] : [],
      );
      context.stroke();
      context.setLineDash([]);
      return { text: `${series.title} ${bytes(series.end)}`, y: y(series.end ?? 0) + 4 };
    });
    this.#label(context, theme, labels, width - RIGHT + 6, height - BOTTOM);
  }

  /** Names at the ends of the lines, moved apart where they would cover each other. */
  #label(
    context: CanvasRenderingContext2D,
    theme: Theme,
    labels: { text: string; y: number }[],
    x: number,
    lowest: number,
  ): void {
    labels.sort((a, b) => a.y - b.y);
    let above = Number.NEGATIVE_INFINITY;
    for (const label of labels) {
      label.y = Math.max(label.y, above + LINE);
      above = label.y;
    }
    const excess = Math.max(0, above - lowest);
    let below = Number.POSITIVE_INFINITY;
    context.fillStyle = theme.colour("text");
    context.textAlign = "left";
    for (const label of labels.reverse()) {
      const place = Math.min(
        label.y - (excess > 0 && label.y > lowest - excess ? excess : 0),
        below - LINE,
      );
      below = place;
      context.fillText(label.text, x, place);
    }
  }
}

define("sd-memory", MemoryChart);
