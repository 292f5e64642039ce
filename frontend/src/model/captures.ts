/** Profiler captures: which two to compare, and where XProf shows a step. */

import type { Capture, CaptureEntry, StepPart } from "../api/types";

export const PARTS: readonly StepPart[] = [
  "tracing",
  "compilation",
  "input",
  "copies",
  "device",
  "compute",
  "rest",
];

export const PART_NAMES: Readonly<Record<StepPart, string>> = {
  tracing: "Tracing",
  compilation: "Compilation",
  input: "Waiting for data",
  copies: "Copies",
  device: "Device",
  compute: "Host operations",
  rest: "Python, waiting and gaps",
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

/** A part of the step's edge on either side, so that the viewer shows where the step begins. */
const MARGIN = 0.05;

/**
 * The address of XProf's trace viewer at one step, relative to the page.
 *
 * A private interface of XProf 2.20 to 2.24: the viewer's own document, told where its data is.
 *
 * @param base the page's own address, from which the viewer's data is told by path alone
 */
export function viewerAddress(capture: Capture, step: number | undefined, base: string): string {
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
  const begin = step === undefined ? undefined : capture.steps.begin_seconds[step];
  const seconds = step === undefined ? undefined : capture.steps.seconds[step];
  if (begin !== undefined && seconds !== undefined) {
    query.set("view_start", milliseconds(Math.max(0, begin - MARGIN * seconds)));
    query.set("view_end", milliseconds(begin + (1 + MARGIN) * seconds));
  }
  return `../profile/trace_viewer_index.html?${query}`;
}

const milliseconds = (seconds: number): string => (seconds * 1000).toFixed(3);

/** What a step of a capture is called. */
export function stepName(capture: Capture, step: number): string {
  const number = capture.steps.number[step];
  return typeof number === "number"
    ? `Step ${number.toLocaleString("en-US")}`
    : "The whole capture";
}

/** The last part of a stage's or an operation's name, which says most: `Iterator::Map`. */
export function shortName(kind: string, name: string): string {
  return kind === "stage" ? `Iterator::${name.split("::").at(-1)}` : name;
}
