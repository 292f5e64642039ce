/** One signal as a lane: its scale, its label, its value at a row. */

import type { AccountSeries, SignalSeries, Timeline } from "../../api/wire/timeline";
import { byteScale, bytes, quantity, stepTime } from "../../base/format";
import type { Measured } from "../../base/numbers";
import { bisectRight } from "../../base/numbers";
import { median } from "../../base/quantiles";
import { niceBytes, niceCeiling } from "../../base/ticks";
import { SHORT_SIGNALS } from "../../catalog/tables";

/** "Host RSS", "GPU:0 in use"; the given title of a signal that is not known. */
export function shortTitle(signal: string, title: string): string {
  const colon = signal.indexOf(":");
  if (colon < 0) return SHORT_SIGNALS[signal] ?? title;
  const short = SHORT_SIGNALS[signal.slice(0, colon)];
  // Of several workers, TensorFlow's device names begin with "/job:worker/replica:0/task:0/".
  const device = signal.slice(colon + 1).replace(/^.*device:/, "");
  return short === undefined ? title : `${device} ${short}`;
}

/** Accounts whose title is too long for the column. */
const SHORT_ACCOUNTS: readonly (readonly [RegExp, string])[] = [
  [/^Garbage collection pauses/, "Garbage collection"],
  [/^First execution, (\w+) (graphs|functions)/, "First exec., $1"],
];

/** The seconds of an account as a lane: mean seconds a step, level over each bucket. */
export function accountLane(account: AccountSeries, timeline: Timeline): Lane {
  const largest = account.seconds.reduce<number>((most, one) => Math.max(most, one ?? 0), 0);
  const high = niceCeiling(largest);
  const title = SHORT_ACCOUNTS.reduce(
    (text, [long, short]) => text.replace(long, short),
    account.title,
  );
  return {
    id: `${ACCOUNT}${account.account}`,
    title,
    fullTitle: `${account.title}, seconds per step`,
    unit: "seconds",
    row: timeline.row,
    value: account.seconds,
    stepped: true,
    low: 0,
    high,
    scale: `0 to ${stepTime(high).replace(/\.0+ /, " ")} per step`,
  };
}

const ACCOUNT = "account:";

export interface Lane {
  readonly id: string;
  /** Short enough for a column; `fullTitle` says it in words. */
  readonly title: string;
  readonly fullTitle: string;
  readonly unit: string;
  readonly row: readonly number[];
  readonly value: readonly Measured[];
  /** Each value holds until the next, rather than leading to it. */
  readonly stepped: boolean;
  readonly low: number;
  readonly high: number;
  /** "0 to 16 GiB", "0 to 50 a step". */
  readonly scale: string;
}

/** From zero to a round number above the largest value; from below zero only if it goes there. */
export function laneOf(series: SignalSeries): Lane {
  const whole = bridged(series);
  const { row, value } = series.cumulative ? perStep(whole) : whole;
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
    title: shortTitle(series.signal, series.title),
    fullTitle: series.title,
    unit: series.unit,
    row,
    value,
    stepped: series.cumulative === true,
    low,
    high,
    scale: `${bottom} to ${top}${series.cumulative ? " per step" : ""}`,
  };
}

/** Samples so many times farther apart than usual have a gap between them. */
const GAP = 4;

/**
 * A series without the moments at which only others were sampled. What stays unmeasured are
 * gaps: the beginning and the end without samples, and stretches much longer than usual.
 */
export function bridged(series: Pick<SignalSeries, "row" | "value">): Rates {
  const { row, value } = series;
  const known = value.flatMap((one, index) => (one === null ? [] : [index]));
  const apart = known.slice(1).map((index, place) => {
    return (row[index] as number) - (row[known[place] as number] as number);
  });
  const usual = median(apart);
  const kept = new Set(known);
  apart.forEach((rows, place) => {
    if (rows > GAP * usual) kept.add((known[place] as number) + 1);
  });
  const [first = 0] = known;
  const last = known.at(-1) ?? -1;
  const stays = (_: unknown, index: number): boolean =>
    kept.has(index) || index < first || index > last;
  return { row: row.filter(stays), value: value.filter(stays) };
}

interface Rates {
  readonly row: readonly number[];
  readonly value: readonly Measured[];
}

/**
 * What a counter adds a step, from each sample to the next; the last value is held. Samples
 * within one row count as the last of them; a counter that fell began anew, and leaves a gap.
 */
export function perStep(series: Pick<SignalSeries, "row" | "value">): Rates {
  const last = series.row.map((row, index) => row !== series.row[index + 1]);
  const row = series.row.filter((_, index) => last[index]);
  const total = series.value.filter((_, index) => last[index]);
  const value = total.map((_, index) => {
    const from = Math.min(index, total.length - 2);
    const [low, high] = [total[from], total[from + 1]];
    if (from < 0 || low == null || high == null || high < low) return null;
    return (high - low) / ((row[from + 1] as number) - (row[from] as number));
  });
  return { row, value };
}

/** Of the values in view: those above are cut off, and marked. */
const USUAL_SHARE = 0.99;

/** A lane whose axis ends above the usual values between two rows, not above a single one. */
export function fitted(lane: Lane, from: number, to: number): Lane {
  const inside = lane.value
    .filter((_, index) => (lane.row[index + 1] ?? to) > from && (lane.row[index] as number) < to)
    .filter((one) => one !== null)
    .sort((a, b) => a - b);
  const largest = inside.at(-1) ?? 0;
  const usual = inside[Math.floor((inside.length - 1) * USUAL_SHARE)] ?? 0;
  const top = usual > 0 && usual * 2 < largest ? usual * 1.25 : largest;
  if (top <= 0) return lane;
  const high = lane.unit === "bytes" ? niceBytes(top) : niceCeiling(top);
  if (high === lane.high) return lane;
  const unit = lane.scale.endsWith(" per step") ? " per step" : "";
  const text = lane.unit === "seconds" ? stepTime(high) : quantity(high, lane.unit);
  const bottom = lane.low < 0 ? quantity(lane.low, lane.unit) : "0";
  return { ...lane, high, scale: `${bottom} to ${text.replace(/\.0+ /, " ")}${unit}` };
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

/** So many lanes are shown before the reader asks for all, so many of them accounts. */
const FEW = 8;
const FEW_ACCOUNTS = 3;

/** What a reader looks for first, by the start of the name; other signals follow as they come. */
const FIRST = [
  "rss_bytes",
  "allocator_in_use",
  "allocator_peak",
  "gpu_",
  "eager_functions",
  "graph_operations",
  "live_tensor_bytes",
  "thread_run_delay",
  "run_delay",
  "disk_written",
  "io_pressure",
  "memory_available",
  "cpu_pressure",
];

/** What a cause is seen in, by the name of a lane. */
const PROOFS: Readonly<Record<string, RegExp>> = {
  retracing: /tracing:again|execution:again/,
  input_pipeline: /input_wait/,
  graph_growth: /graph_operations/,
  tensor_retention: /live_tensor|tape/,
  host_memory: /major_faults|memory_available|memory_pressure|swap/,
  gpu_memory: /allocator/,
  garbage_collection: /account:gc|garbage/,
  checkpointing: /checkpoint/,
  callbacks: /callback|summary/,
  disk: /disk_(read|written)|io_pressure|output/,
  cpu_contention: /run_delay|cpu_pressure|throttled/,
  communication: /communication/,
  shape_churn: /batch_shapes/,
  optimizer_state: /optimizer/,
  xla_compilation: /xla/,
  thermal: /gpu_(clock|power|temperature|thermal|hardware)/,
};

/**
 * The lanes that say most: what the causes are seen in, in their order, then those that move, the
 * best known first.
 */
export function chosenLanes(
  lanes: readonly Lane[],
  all: boolean,
  causes: readonly string[] = [],
): Lane[] {
  const proves = ({ id }: Lane): number => {
    const place = causes.findIndex((cause) => PROOFS[cause]?.test(id));
    return place < 0 ? causes.length : place;
  };
  const ordered = [...lanes].sort((a, b) => proves(a) - proves(b));
  if (all || lanes.length <= FEW) return ordered;
  const accounts = lanes.filter((lane) => lane.id.startsWith(ACCOUNT)).slice(0, FEW_ACCOUNTS);
  const rank = (lane: Lane): number => {
    if (proves(lane) < causes.length && moves(lane)) return proves(lane) - causes.length - 1;
    if (lane.id.startsWith(ACCOUNT)) return accounts.includes(lane) ? -1 : Number.MAX_VALUE;
    const place = FIRST.findIndex((name) => lane.id.startsWith(name));
    return (moves(lane) ? 0 : lanes.length + FIRST.length) + (place < 0 ? FIRST.length : place);
  };
  const few = new Set([...lanes].sort((a, b) => rank(a) - rank(b)).slice(0, FEW));
  return ordered.filter((lane) => few.has(lane));
}

/** Not the same value all along. */
function moves(lane: Lane): boolean {
  const first = lane.value.find((one) => one !== null);
  return lane.value.some((one) => one !== null && one !== first);
}
