/** Lines on a canvas, with a gap wherever nothing was measured. */
import type { Measured } from "../../base/numbers";

/** A place on the canvas, CSS pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** From values to vertical pixels. */
export type Height = (value: number) => number;

/** `low` at the lower edge of the box, `high` at its upper one. */
export const linear = (low: number, high: number, box: Box): Height => {
  const scale = high > low ? box.height / (high - low) : 0;
  return (value) => box.top + box.height - (value - low) * scale;
};

/** The same on a logarithmic axis; `low` must be above zero. */
export const logarithmic = (low: number, high: number, box: Box): Height => {
  const scale = box.height / Math.log(high / low);
  return (value) => box.top + box.height - Math.log(Math.max(value, low * 1e-3) / low) * scale;
};

/** Runs of measured values: [first, last] indices, inclusive. */
export function stretches(values: readonly Measured[]): [number, number][] {
  const found: [number, number][] = [];
  let begin = -1;
  for (let index = 0; index <= values.length; index++) {
    const measured = index < values.length && values[index] !== null;
    if (measured && begin < 0) begin = index;
    if (!measured && begin >= 0) {
      found.push([begin, index - 1]);
      begin = -1;
    }
  }
  return found;
}

/** Adds a line through (xs, values) to the path; `down` closes each stretch to that height. */
export function traceLine(
  context: CanvasRenderingContext2D,
  xs: readonly number[],
  values: readonly Measured[],
  y: Height,
  down?: number,
): void {
  for (const [first, last] of stretches(values)) {
    context.moveTo(xs[first] as number, y(values[first] as number));
    for (let index = first; index <= last; index++) {
      context.lineTo(xs[index] as number, y(values[index] as number));
    }
    // A single value is a dot, not nothing.
    if (first === last) context.lineTo((xs[last] as number) + 1, y(values[last] as number));
    if (down === undefined) continue;
    context.lineTo(xs[last] as number, down);
    context.lineTo(xs[first] as number, down);
    context.closePath();
  }
}

/**
 * Adds level pieces: the value of bucket `i` from border `i` to border `i + 1`; `down` closes
 * each stretch to that height.
 */
export function traceSteps(
  context: CanvasRenderingContext2D,
  borders: readonly number[],
  values: readonly Measured[],
  y: Height,
  down?: number,
): void {
  for (const [first, last] of stretches(values)) {
    context.moveTo(borders[first] as number, y(values[first] as number));
    for (let index = first; index <= last; index++) {
      context.lineTo(borders[index] as number, y(values[index] as number));
      context.lineTo(borders[index + 1] as number, y(values[index] as number));
    }
    if (down === undefined) continue;
    context.lineTo(borders[last + 1] as number, down);
    context.lineTo(borders[first] as number, down);
    context.closePath();
  }
}

/** Adds the area between two lists of level pieces. */
export function traceBand(
  context: CanvasRenderingContext2D,
  borders: readonly number[],
  low: readonly Measured[],
  high: readonly Measured[],
  y: Height,
): void {
  for (const [first, last] of stretches(high)) {
    context.moveTo(borders[first] as number, y(high[first] as number));
    for (let index = first; index <= last; index++) {
      context.lineTo(borders[index] as number, y(high[index] as number));
      context.lineTo(borders[index + 1] as number, y(high[index] as number));
    }
    for (let index = last; index >= first; index--) {
      const floor = y(low[index] ?? (high[index] as number));
      context.lineTo(borders[index + 1] as number, floor);
      context.lineTo(borders[index] as number, floor);
    }
    context.closePath();
  }
}
