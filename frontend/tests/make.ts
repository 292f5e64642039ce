/** Small answers of the server, for tests: what a test does not name has a harmless value. */

import type { JudgedRun, RunDigest } from "../src/api/wire/all_runs";
import type { Cause, Run, RunReport } from "../src/api/wire/report";
import type { SignalSeries, Timeline } from "../src/api/wire/timeline";

export const run = (values: Partial<Run> = {}): Run => ({
  run: "run1",
  title: values.run ?? "run1",
  workers: 1,
  steps: 100,
  first_step: 0,
  last_step: 99,
  started: 1000,
  reported: 1100,
  live: false,
  verdict: null,
  lost_fraction: null,
  source: "records",
  ...values,
});

export const digest = (values: Partial<RunDigest> = {}): RunDigest => ({
  verdict: "slowdown",
  judged: "whole",
  headline: "40.0 s of 1 min 40 s lost (40%) to retracing of train_step (train.py:41).",
  lost_seconds: 40,
  lost_fraction: 0.4,
  wall_seconds: 100,
  cause: "retracing",
  subject: "retracing of train_step (train.py:41)",
  causes: ["retracing", "warm_up"],
  since_step: 10,
  since_seconds: 6,
  steps: 100,
  step_seconds: 0.9,
  steps_per_second: 1,
  items_per_second: null,
  started: 1000,
  ended: 1100,
  spark: [0.6, 0.9, 1.2],
  settings: { tensorflow: "2.21.0" },
  ...values,
});

export const judged = (values: Partial<JudgedRun> = {}): JudgedRun => ({
  run: "run1",
  error: "",
  hyperparameters: {},
  digest: digest(),
  ...values,
});

export const cause = (values: Partial<Cause> = {}): Cause => ({
  cause: "retracing",
  lost_seconds: 30,
  lost_fraction: 0.3,
  pattern: "drift",
  confidence: "high",
  steps: [10, 99],
  summary: "Argument `rate` has a new value every step.",
  evidence: ["90 retraces."],
  advice: [
    {
      text: "Pass a tensor.",
      code: "- f(x)\n+ f(tf.constant(x))",
      price: "",
      where: "where `f` is called",
      kind: "example",
    },
  ],
  parts: [],
  ...values,
});

export const report = (values: Partial<RunReport> = {}): RunReport => ({
  run: "run1",
  verdict: "slowdown",
  headline: "40.0 s of 1 min 40 s lost (40%). Biggest cause: retracing of `train_step`.",
  steps: 100,
  wall_seconds: 100,
  healthy_step_seconds: 0.6,
  baseline: "lowest level",
  lost_seconds: 40,
  lost_fraction: 0.4,
  unexplained_seconds: 4,
  causes: [cause(), cause({ cause: "garbage_collection", lost_seconds: 6, lost_fraction: 0.06 })],
  suspects: [],
  workers: [],
  signals: [{ signal: "step_time", status: "measured", reason: "" }],
  completeness: { chunks: 3, missing_chunks: 0, gaps: [] },
  ...values,
});

/** A timeline of steps of one second each, `width` rows to a bucket. */
export function timeline(rows: number, width: number, values: Partial<Timeline> = {}): Timeline {
  const row = Array.from({ length: Math.ceil(rows / width) }, (_, index) => index * width);
  const ones = row.map(() => 1);
  return {
    run: "run1",
    rows,
    steps_per_row: 1,
    first: 0,
    last: rows - 1,
    bucket_rows: width,
    row,
    step: row,
    time: row.map((first) => 1001 + first),
    count: row.map((first) => Math.min(width, rows - first)),
    step_seconds: { mean: ones, median: ones, min: ones, max: ones },
    healthy: ones,
    lost: {},
    accounts: [],
    healthy_step_seconds: 1,
    epochs: [],
    annotations: [],
    gaps: [],
    change_points: [],
    marks: { retraces: [], gc: [], checkpoints: [], captures: [] },
    signals: [],
    unmeasured: [],
    ...values,
  };
}

/** Sampled three times; once it could not be read. */
export const memorySignal: SignalSeries = {
  signal: "rss_bytes",
  title: "Host memory",
  unit: "bytes",
  row: [0, 10, 20],
  value: [1, null, 3],
};
