/** Profiler captures: which one shows given steps, which two to compare, where XProf shows them. */

import type { Capture, CaptureEntry, StepPart } from "../api/wire/captures";
import type { Mark } from "../api/wire/timeline";
import { range } from "../base/format";
import { between, type Window } from "./timeline/window";

export const PARTS: readonly StepPart[] = [
  "device",
  "communication",
  "tracing",
  "compilation",
  "input",
  "copies",
  "compute",
  "rest",
];

export const PART_NAMES: Readonly<Record<StepPart, string>> = {
  tracing: "Tracing",
  compilation: "Compilation",
  input: "Input wait",
  copies: "Copies",
  device: "Device",
  communication: "Communication",
  compute: "Host operations",
  rest: "Python, waiting, and gaps",
};

export interface Pair {
  readonly fast: string;
  readonly slow: string;
}

/** The pair that the monitor took by itself, else the fastest and the slowest capture. */
export function pairOf(captures: readonly CaptureEntry[]): Pair | undefined {
  const known = captures.filter((one) => one.error === undefined);
  const steady = known.find((one) => one.automatic === "steady");
  const slower = known.findLast((one) => one.automatic === "slower");
  if (steady !== undefined && slower !== undefined) return { fast: steady.id, slow: slower.id };
  const timed = known
    .filter((one) => typeof one.step_seconds === "number")
    .sort((a, b) => (a.step_seconds as number) - (b.step_seconds as number));
  const [first] = timed;
  const last = timed.at(-1);
  return first === undefined || last === undefined || first === last
    ? undefined
    : { fast: first.id, slow: last.id };
}

/** A capture that stands beside the timeline. */
export interface OpenTrace {
  readonly id: string;
  readonly host?: string;
  /** Places of the steps that are looked at; without them all. */
  readonly at?: Window;
}

/** A capture's place on the timeline. */
export interface CaptureSpan extends Window {
  readonly step: number;
  /** Whether it stands beside the timeline. */
  readonly isOpen?: boolean;
}

/** Where captures lie: those that are listed, else those that the monitor saw begin. */
export function spansOf(
  captures: readonly CaptureEntry[] | undefined,
  marks: readonly Mark[],
  opened?: string,
): readonly CaptureSpan[] {
  const listed = (captures ?? []).flatMap((one) => {
    const window = windowOf(one);
    return window === undefined
      ? []
      : [{ ...window, step: one.first_step ?? window.from, isOpen: one.id === opened }];
  });
  if (listed.length > 0) return listed;
  return marks.map(({ row, step }) => ({ from: row, to: row + 1, step }));
}

function windowOf(one: CaptureEntry): Window | undefined {
  const { first_row: first, last_row: last } = one;
  if (one.error !== undefined || typeof first !== "number" || typeof last !== "number") return;
  return between(first, last);
}

/**
 * The capture with the most of some rows in it, opened at these; else the nearest one, opened whole.
 *
 * @param within how many rows away it may be
 */
export function nearest(
  captures: readonly CaptureEntry[],
  rows: Window,
  within = Number.POSITIVE_INFINITY,
): OpenTrace | undefined {
  let found: OpenTrace | undefined;
  let most = -within;
  for (const one of captures) {
    const window = windowOf(one);
    if (window === undefined) continue;
    const at = { from: Math.max(window.from, rows.from), to: Math.min(window.to, rows.to) };
    const common = at.to - at.from;
    if (common < most) continue;
    most = common;
    found = common > 0 ? { id: one.id, at } : { id: one.id };
  }
  return found;
}

/** The steps before or after those that are looked at, as many as one; undefined at the end. */
export function stepBeside(capture: Capture, direction: 1 | -1): Window | undefined {
  const { place, seconds } = capture.steps;
  const [first, last] = capture.chosen ?? (direction > 0 ? [-1, -1] : [place.length, place.length]);
  const from = direction > 0 ? last : first;
  for (let index = from + direction; index >= 0 && index < seconds.length; index += direction) {
    const at = place[index];
    // In a run of millions of steps several share a row.
    if (typeof at === "number" && at !== place[from]) return between(at, at);
  }
  return undefined;
}

/** Of what is looked at on each side, so that the viewer shows where it begins. */
const MARGIN = 0.05;

/**
 * The address of XProf's trace viewer at the steps that are looked at, relative to the page.
 *
 * A private interface of XProf 2.20 to 2.24: the viewer's own document, told where its data is.
 *
 * @param base the page's own address, from which the viewer's data is told by path alone
 */
export function viewerAddress(capture: Capture, base: string): string {
  const data = new URL("../profile/data", base);
  data.search = new URLSearchParams({
    run: capture.id,
    tag: "trace_viewer@",
    host: capture.host,
    resolution: "8000",
  }).toString();
  const query = new URLSearchParams({
    is_streaming: "true",
    is_oss: "true",
    trace_data_url: data.pathname + data.search,
  });
  if (capture.chosen !== null) {
    const [first, last] = capture.chosen;
    const { begin_seconds: begins, seconds } = capture.steps;
    const begin = begins[first] ?? 0;
    const end = (begins[last] ?? 0) + (seconds[last] ?? 0);
    const margin = MARGIN * (end - begin);
    query.set("view_start", milliseconds(Math.max(0, begin - margin)));
    query.set("view_end", milliseconds(end + margin));
  }
  return `../profile/trace_viewer_index.html?${query}`;
}

const milliseconds = (seconds: number): string => (seconds * 1000).toFixed(3);

/** What the steps that are looked at are called. */
export function chosenName(capture: Capture): string {
  const { by, count, number } = capture.steps;
  if (by === "whole") return "The whole capture";
  const [first, last] = capture.chosen ?? [0, number.length - 1];
  const [from, to] = [number[first], number[last]];
  if (typeof from !== "number" || typeof to !== "number") return "A step";
  const steps = capture.chosen === null ? count : last - first + 1;
  if (steps === 1) return `Step ${range(from, to)}`;
  return capture.chosen === null
    ? `Mean of ${count.toLocaleString("en-US")} steps, ${range(from, to)}`
    : `Mean of steps ${range(from, to)}`;
}

/** Of longer names: kernels made of templates have hundreds of letters. */
const MOST_LETTERS = 96;
const END_LETTERS = 32;

/** The last part of a stage's name, which says most; beginning and end of a kernel's. */
export function shortName(kind: string, name: string): string {
  if (kind === "stage") return `Iterator::${name.split("::").at(-1)}`;
  return name.length <= MOST_LETTERS
    ? name
    : `${name.slice(0, MOST_LETTERS - END_LETTERS)}…${name.slice(-END_LETTERS)}`;
}
