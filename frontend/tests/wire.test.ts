/** The wire types against the server's own document: the same keys, route by route. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AllRuns } from "../src/api/wire/all_runs";
import type { Change, Changed } from "../src/api/wire/changed";
import type { Difference, RunComparison, SideBySide } from "../src/api/wire/comparison";
import type { Runs } from "../src/api/wire/report";
import type { RetraceExample, RetraceGroup, Retraces } from "../src/api/wire/retraces";
import type { ChangePoint, Epoch, Mark, SignalSeries, Timeline } from "../src/api/wire/timeline";
import { judged, run, timeline } from "./make";

const document = readFileSync(
  join(import.meta.dirname, "..", "..", "tb_slowdown_plugin", "server", "http_api.md"),
  "utf8",
);

/** The JSON example under the heading of a route. */
function example(route: string): Record<string, unknown> {
  const [, section = ""] = document.split(`\n## \`${route}`);
  const json = /```json\n([\s\S]*?)```/.exec(section)?.[1];
  return JSON.parse(json ?? "null") as Record<string, unknown>;
}

/** Paths of all keys: `signals[].unit`; the keys of `lost` and `marks` are data, not form. */
function keys(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.length === 0 ? [] : keys(value[0], `${path}[]`);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    `${path}.${key}`,
    ...(path === ".lost" ? [] : keys(inner, `${path}.${key}`)),
  ]);
}

/** The names of what a program logged are data, too. */
const isData = (key: string): boolean => /\.(lost|hyperparameters|settings)\./.test(key);

const sorted = (value: unknown): string[] =>
  [...new Set(keys(value))].filter((key) => !isData(key)).sort();

const mark: Mark = { row: 7, step: 7, count: 1, seconds: 0.2 };
const epoch: Epoch = { row: 0, step: 0, number: 0 };
const change: ChangePoint = { row: 120, step: 120, text: "" };
const signal: SignalSeries = { signal: "", title: "", unit: "", row: [], value: [] };
const spread = { low: 0, level: 0, high: 0 };
const difference: Change = {
  id: "",
  title: "",
  unit: "",
  per_step: true,
  by: "mean",
  before: spread,
  here: spread,
  difference: 0,
  strength: 0,
  kind: "same",
  reading: "",
};
const trace: RetraceExample = {
  row: 0,
  step: 0,
  seconds: 0,
  building_seconds: 0,
  execution_seconds: 0,
  operations: 0,
  changes: [{ argument: "", what: "", before: "", after: "" }],
};
const group: RetraceGroup = {
  function: "",
  location: "",
  cause: "",
  argument: "",
  what: "",
  count: 0,
  seconds: 0,
  first_step: 0,
  last_step: 0,
  fix: "",
  jit_compile: false,
  examples: [trace],
  spark: [],
};

const term: Difference = {
  term: "",
  base_seconds: 0,
  with_seconds: 0,
  difference_seconds: 0,
  interval_seconds: [0, 0],
  fraction: 0,
  outcome: "slower",
};

const FORMS: Readonly<Record<string, unknown>> = {
  runs: { runs: [run()], other_runs: 0 } satisfies Runs,
  all_runs: { store: "", number: 0, judged: 0, of: 0, rows: [judged()] } satisfies AllRuns,
  timeline: timeline(2, 1, {
    lost: { warm_up: [], retracing: [], unexplained: [] },
    accounts: [{ account: "", title: "", seconds: [] }],
    epochs: [epoch],
    annotations: [{ row: 0, step: 0, text: "" }],
    gaps: [{ row: 0, steps: 0, after_step: 0, before_step: 0, seconds: 0 }],
    change_points: [change],
    marks: { retraces: [mark], gc: [], checkpoints: [], captures: [] },
    signals: [signal],
    unmeasured: [{ signal: "", reason: "" }],
  }) satisfies Timeline,
  changed: {
    run: "",
    first: 0,
    last: 0,
    before_first: 0,
    before_last: 0,
    changes: [difference],
  } satisfies Changed,
  compare: {
    schema: 1,
    headline: "",
    base: [],
    other: [],
    unit: "step",
    outcome: "slower",
    total: term,
    quiet: term,
    terms: [term],
    warm_up: term,
    spread_fraction: 0,
    repeats_wanted: null,
    notes: [],
    changes: [{ cause: "", before: 0, now: 0, seconds: 0, text: "" }],
    settings: [{ name: "", base: "", other: "" }],
    reasons: [],
  } satisfies RunComparison,
  side_by_side: {
    schema: 1,
    unit: "step",
    runs: [],
    settings: [{ name: "", values: [] }],
    terms: [{ term: "", seconds: [], differences: [term] }],
    step_seconds: [],
    totals: [term],
    warm_up_seconds: [],
    headlines: [],
    reasons: [],
  } satisfies SideBySide,
  retraces: {
    status: { status: "measured", reason: "" },
    watched: 0,
    seconds: 0,
    traces: 0,
    groups: [group],
    library: [],
  } satisfies Retraces,
};

/** Keys that newer servers send and the document's example may leave out. */
const OPTIONAL = [".signals[].cumulative"];

describe("http_api.md", () => {
  it.each(Object.keys(FORMS))("describes %s as the page reads it", (route) => {
    const described = sorted(example(route)).filter((key) => !OPTIONAL.includes(key));
    expect(described.length).toBeGreaterThan(3);
    expect(described).toEqual(sorted(FORMS[route]));
  });
});
