/** One signal as a lane: its scale, its label, its value at a row. */

import type { Measured, SignalSeries } from "../api/types";
import { bisectRight } from "../base/bisect";
import { byteScale, bytes, quantity } from "../base/format";
import { niceBytes, niceCeiling } from "./ticks";

export interface Lane {
  readonly id: string;
  readonly title: string;
  readonly unit: string;
  readonly row: readonly number[];
  readonly value: readonly Measured[];
  readonly low: number;
  readonly high: number;
  /** "0 to 16 GiB", "0 to 50 a step". */
  readonly scale: string;
}

/** From zero to a round number above the largest value; from below zero only if it goes there. */
export function laneOf(series: SignalSeries): Lane {
  const value = series.cumulative ? perStep(series) : series.value;
  let low = 0;
  let largest = 0;
  for (const one of value) {
    if (one === null) continue;
    low = Math.min(low, one);
    largest = Math.max(largest, one);
  }
  const high = series.unit === "bytes" ? niceBytes(largest) : niceCeiling(largest);
  const top = quantity(high, series.unit).replace(/\.0+ /, " ");
  const bottom = low < 0 ? quantity(low, series.unit) : "0";
  return {
    id: series.signal,
    title: series.title,
    unit: series.unit,
    row: series.row,
    value,
    low,
    high,
    scale: `${bottom} to ${top}${series.cumulative ? " a step" : ""}`,
  };
}

/** How much a counter rose a step since the sample before; a counter that fell began anew. */
export function perStep(series: SignalSeries): Measured[] {
  return series.value.map((value, index) => {
    const before = series.value[index - 1];
    const rows = (series.row[index] ?? 0) - (series.row[index - 1] ?? 0);
    if (value === null || before === null || before === undefined || rows <= 0) return null;
    return value < before ? null : (value - before) / rows;
  });
}

/** The last value sampled at or before a row, null before the first and in a gap. */
export function valueAt(lane: Pick<Lane, "row" | "value">, row: number): Measured {
  const index = bisectRight(lane.row, row) - 1;
  return index < 0 ? null : (lane.value[index] ?? null);
}

/** A lane's value for the narrow gutter, in the unit of its scale. */
export function laneText(lane: Lane, row: number): string {
  const value = valueAt(lane, row);
  return lane.unit === "bytes" ? bytes(value, byteScale(lane.high)) : quantity(value, lane.unit);
}
