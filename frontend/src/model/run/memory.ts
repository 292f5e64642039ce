/** Series of bytes: do they grow, and how fast? */

import type { SignalSeries, Timeline } from "../../api/wire/timeline";
import { bytes, plural } from "../../base/format";
import type { Measured } from "../../base/numbers";
import { median, sorted } from "../../base/quantiles";
import { bridged, shortTitle } from "../timeline/lane";

export interface MemorySeries {
  readonly id: string;
  readonly title: string;
  /** What is used is drawn; limits only where they are near; the machine's stand in the table. */
  readonly role: "use" | "limit" | "machine";
  readonly row: readonly number[];
  readonly value: readonly Measured[];
  /** At the end of the start-up (a tenth of the run), at the end, and the largest. */
  readonly early: Measured;
  readonly end: Measured;
  readonly peak: Measured;
  /** Bytes a row where growth is steady, 0 where there is none, null where neither can be said. */
  readonly growth: Measured;
  /** Of the run. */
  readonly rows: number;
}

/** The start of a run fills pools and caches: growth is judged after it. */
const START = 0.1;
/** Growth below this share of the level is none. */
const LEAST_GROWTH = 0.03;
const LEAST_VALUES = 8;
/** Bytes, but not of memory. */
const DISK = /^(output|disk)_/;

export const memorySeries = (timeline: Timeline): MemorySeries[] =>
  timeline.signals
    .filter(({ signal, unit, cumulative }) => unit === "bytes" && !cumulative && !DISK.test(signal))
    .map((signal) => seriesOf(signal, timeline.rows))
    .filter(({ peak }) => peak !== 0);

function seriesOf(signal: SignalSeries, rows: number): MemorySeries {
  const { row, value } = bridged(signal);
  const from = row.findIndex((one) => one >= rows * START);
  const later = from < 0 ? [] : value.slice(from);
  const early = later.find((one) => one !== null) ?? null;
  const end = value.findLast((one) => one !== null) ?? null;
  const growth = growthOf(row.slice(Math.max(0, from)), later);
  const isBorneOut = (growth ?? 0) * ((end ?? 0) - (early ?? 0)) >= 0;
  return {
    id: signal.signal,
    title: shortTitle(signal.signal, signal.title),
    role: roleOf(signal.signal),
    row,
    value,
    early,
    end,
    peak: sorted(value).at(-1) ?? null,
    growth: isBorneOut ? growth : null,
    rows,
  };
}

const roleOf = (signal: string): MemorySeries["role"] =>
  /limit|total/.test(signal)
    ? "limit"
    : /^memory_available|^swap|largest_free/.test(signal)
      ? "machine"
      : "use";

/** A limit farther away than this many times the largest use would flatten everything else. */
const NEAR = 4;

/** The series that one chart shows well together. */
export function drawn(series: readonly MemorySeries[]): MemorySeries[] {
  const largest = Math.max(0, ...series.map((one) => (one.role === "use" ? (one.peak ?? 0) : 0)));
  return series.filter(
    (one) => one.role === "use" || (one.role === "limit" && (one.peak ?? 0) <= NEAR * largest),
  );
}

/** A line through the medians of three thirds; steady if the middle lies near it. */
function growthOf(row: readonly number[], value: readonly Measured[]): Measured {
  if (sorted(value).length < LEAST_VALUES) return null;
  const third = Math.floor(value.length / 3);
  const level = (part: number): number => median(value.slice(part * third, (part + 1) * third));
  const [first, middle, last] = [level(0), level(1), level(2)];
  const rise = last - first;
  if (Math.abs(rise) < LEAST_GROWTH * Math.abs(first)) return 0;
  if (Math.abs(middle - (first + last) / 2) > Math.abs(rise) / 4) return null;
  const rows = (row[Math.min(row.length - 1, third * 2)] ?? 0) - (row[0] ?? 0);
  return rows > 0 ? rise / rows : null;
}

/** What the growth of a series means, in words. */
export function memoryReading(series: MemorySeries): string {
  const { growth, early, end } = series;
  if (growth === 0) return "no growth";
  if (growth === null) {
    const known = early !== null && end !== null;
    return known && end > early ? "rises, not steadily" : known && end < early ? "falls" : "–";
  }
  const steps = [1000, 100, 10].find((one) => one <= series.rows) ?? 1;
  const per = growth * steps;
  return `steady ${per < 0 ? "fall" : "growth"}, ${bytes(Math.abs(per))} per ${plural(steps, "step")}`;
}
