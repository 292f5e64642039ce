/** What was measured of a cause that is not one: "0 retraces", "0.4 ms a step". */

import type { MarkKind, Timeline } from "../../api/wire/timeline";
import { bytes, count, duration, plural, signed, stepTime } from "../../base/format";

type Look = (timeline: Timeline) => string | undefined;

const marked =
  (kind: MarkKind, one: string, many?: string): Look =>
  (timeline) => {
    const marks = timeline.marks[kind];
    const number = marks.reduce((sum, mark) => sum + mark.count, 0);
    const seconds = marks.reduce((sum, mark) => sum + mark.seconds, 0);
    const cost = seconds > 0 ? `, ${duration(seconds)}` : "";
    return `${plural(number, one, many)}${cost}`;
  };

/** First and last value of the first signal whose name begins so. */
function ends(timeline: Timeline, name: string): readonly [number, number] | undefined {
  const values = timeline.signals
    .find((one) => one.signal.startsWith(name))
    ?.value.filter((one) => one !== null);
  const [first] = values ?? [];
  const last = values?.at(-1);
  return first === undefined || last === undefined ? undefined : [first, last];
}

const grown =
  (name: string, show: (value: number) => string): Look =>
  (timeline) => {
    const found = ends(timeline, name);
    return found && signed(found[1] - found[0], show);
  };

const last =
  (name: string, show: (value: number) => string): Look =>
  (timeline) => {
    const found = ends(timeline, name);
    return found && show(found[1]);
  };

/** Mean of an account over all steps. */
const perStep =
  (account: string): Look =>
  (timeline) => {
    const seconds = timeline.accounts.find((one) => one.account === account)?.seconds ?? [];
    const sum = seconds.reduce<number>((all, one, index) => {
      return all + (one ?? 0) * (timeline.count[index] ?? 1);
    }, 0);
    return `${stepTime(sum / Math.max(1, timeline.rows))} per step`;
  };

const LOOKS: Readonly<Record<string, Look>> = {
  retracing: marked("retraces", "retrace"),
  graph_growth: grown("eager_functions", (value) => plural(value, "function")),
  shape_churn: last("batch_shapes", (value) => plural(value, "shape")),
  input_pipeline: perStep("input_wait"),
  communication: perStep("communication"),
  garbage_collection: marked("gc", "pause"),
  tensor_retention: grown("live_tensor_bytes", bytes),
  host_memory: grown("rss_bytes", bytes),
  gpu_memory: grown("allocator_in_use_bytes:GPU", bytes),
  checkpointing: marked("checkpoints", "save"),
  disk: last("disk_free_bytes", (value) => `${bytes(value)} free`),
  cpu_contention: (timeline) => {
    const found = ends(timeline, "run_delay_seconds");
    const waited = found && (found[1] - found[0]) / Math.max(1, timeline.rows);
    return waited === undefined || waited < 0 ? undefined : `${stepTime(waited)} per step`;
  },
  profiling: marked("captures", "capture"),
  optimizer_state: last("optimizer_variables", (value) => `${count(value)} variables`),
};

export const found = (cause: string, timeline: Timeline): string | undefined =>
  LOOKS[cause]?.(timeline);
