import { describe, expect, it } from "vitest";
import { report, run, timeline } from "../../tests/make";
import { checks, tally } from "./checks";
import { compare, differenceReading } from "./compare";
import { nextChange } from "./jump";
import { placeLabels } from "./labels";
import { laneOf, laneText, perStep, shortTitle, valueAt } from "./lane";
import { logScale } from "./logscale";
import { memoryReading, memorySeries } from "./memory";
import { recentMedian } from "./recent";
import { reasonOf } from "./retrace";
import { filtered, verdictText } from "./runs";
import { warmUpParts } from "./warmup";

const signal = {
  signal: "rss_bytes",
  title: "Host memory",
  unit: "bytes",
  row: [0, 10, 20],
  value: [1, null, 3],
};

describe("lane", () => {
  it("keeps a gap a gap", () => {
    const lane = laneOf(signal);
    expect(valueAt(lane, 10)).toBeNull();
    expect(laneText(lane, 15)).toBe("–");
    expect(valueAt(lane, -1)).toBeNull();
    expect(valueAt(lane, 99)).toBe(3);
  });

  it("turns a counter into what it adds a step, and a counter that fell into a gap", () => {
    const counter = { row: [0, 10, 10, 20, 30], value: [0, 50, 60, 5, 25] };
    expect(perStep(counter)).toEqual({ row: [0, 10, 20, 30], value: [6, null, 2, 2] });
    expect(perStep({ row: [3], value: [7] })).toEqual({ row: [3], value: [null] });
    expect(perStep({ row: [0, 10], value: [0, null] }).value).toEqual([null, null]);
  });

  it("begins at zero unless values are below it", () => {
    expect(laneOf({ ...signal, value: [5, 6, 7] }).low).toBe(0);
    expect(laneOf({ ...signal, value: [-5, 6, 7] }).low).toBe(-5);
  });

  it("has a short name with its device", () => {
    expect(shortTitle("allocator_in_use_bytes:GPU:0", "Allocator")).toBe("GPU:0 in use");
    expect(shortTitle("rss_bytes", "x")).toBe("Host RSS");
    expect(shortTitle("something:else", "Its title")).toBe("Its title");
  });
});

describe("jump", () => {
  const data = timeline(1000, 1, {
    change_points: [300, 700].map((row) => ({ row, step: row, text: "" })),
  });

  it("goes to the next and the previous, and around", () => {
    expect(nextChange(data, 1, 0)?.selection.from).toBe(300);
    expect(nextChange(data, 1, 300)?.selection.from).toBe(700);
    expect(nextChange(data, 1, 700)?.selection.from).toBe(300);
    expect(nextChange(data, -1, 300)?.selection.from).toBe(700);
  });

  it("has nowhere to go without change points", () => {
    expect(nextChange(timeline(10, 1), 1, 0)).toBeUndefined();
  });
});

describe("placeLabels", () => {
  it("never lets two labels overlap", () => {
    const labels = [10, 14, 18, 22, 600].map((x) => ({ x, width: 200 }));
    const placed = placeLabels(labels, 800);
    for (const a of placed) {
      for (const b of placed) {
        if (a === b || a.line !== b.line) continue;
        expect(Math.abs(a.left - b.left)).toBeGreaterThanOrEqual(200);
      }
    }
    expect(placed.map((one) => one.label)).toEqual([0, 1, 2, 4]);
  });

  it("leaves out what fits nowhere", () => {
    expect(placeLabels([{ x: 5, width: 500 }], 300)).toEqual([]);
  });
});

describe("memory", () => {
  const row = Array.from({ length: 100 }, (_, index) => index);
  const series = (value: (row: number) => number | null) =>
    memorySeries(timeline(100, 1, { signals: [{ ...signal, row, value: row.map(value) }] }))[0];

  it("tells steady growth from a level and from a jump", () => {
    const grows = series((one) => 2 ** 30 + one * 2 ** 20);
    expect(grows?.growth).toBeCloseTo(2 ** 20, 3);
    expect(grows && memoryReading(grows)).toBe("+1,000 MiB in 1,000 steps, steadily");
    expect(series(() => 5e8)?.growth).toBe(0);
    expect(series((one) => (one < 80 ? 1e8 : 9e8))?.growth).toBeNull();
  });

  it("says nothing of a handful of values", () => {
    expect(series((one) => (one < 12 ? 1e8 : null))?.growth).toBeNull();
  });
});

describe("compare", () => {
  const fast = report({
    run: "fast",
    wall_seconds: 65,
    lost_seconds: 5,
    causes: [],
    unexplained_seconds: 5,
  });

  it("has differences that add up", () => {
    const table = compare([fast, report()]);
    const sum = table.rows.reduce((total, row) => total + row.difference, 0);
    expect(sum).toBeCloseTo(table.total.difference, 9);
    expect(table.total.difference).toBe(35);
    expect(table.rows[0]?.id).toBe("healthy");
    expect(table.rows.at(-1)?.id).toBe("unexplained");
  });

  it("greys what two runs of one program differ by anyway", () => {
    const table = compare([fast, report()]);
    const row = table.rows.find((one) => one.id === "unexplained");
    expect(row?.real).toBe(false);
    const retracing = table.rows.find((one) => one.id === "retracing");
    expect(retracing && differenceReading(retracing)).toBe("new in this run");
  });

  it("compares runs of unequal length by the step", () => {
    const table = compare([report({ steps: 50 }), report()]);
    expect(table.perStep).toBe(true);
    expect(table.total.values).toEqual([2, 1]);
  });
});

describe("warmUpParts", () => {
  it("sums to the cause, in groups that double", () => {
    const lost = { warm_up: [8, 1, 1, 1, 1, 0, 0, 0, 0, 0] };
    const parts = warmUpParts(timeline(10, 1, { lost }));
    expect(parts).toEqual([
      { first: 0, last: 0, seconds: 8 },
      { first: 1, last: 1, seconds: 1 },
      { first: 2, last: 3, seconds: 2 },
      { first: 4, last: 4, seconds: 1 },
    ]);
    expect(warmUpParts(timeline(10, 1))).toEqual([]);
  });
});

describe("recentMedian", () => {
  it("is the level at the end, and none in a short run", () => {
    const median = Array.from({ length: 200 }, (_, row) => (row < 150 ? 1 : 3));
    const data = timeline(200, 1);
    const slow = { ...data, step_seconds: { ...data.step_seconds, median } };
    expect(recentMedian(slow)).toEqual({ seconds: 3, rows: 20 });
    expect(recentMedian(timeline(50, 1))).toBeUndefined();
  });
});

describe("reasonOf", () => {
  const change = (before: string, after: string) => ({
    argument: "rate",
    what: "python_number",
    before,
    after,
  });
  const example = (before: string, after: string) => ({
    row: 0,
    step: 0,
    seconds: 1,
    building_seconds: null,
    execution_seconds: null,
    operations: null,
    changes: [change(before, after)],
  });
  const group = {
    function: "f",
    location: "",
    cause: "signature",
    argument: "rate",
    what: "python_number",
    count: 2,
    seconds: 1,
    first_step: 0,
    last_step: 1,
    fix: "",
    jit_compile: false,
    examples: [example("1", "2"), example("3", "4")],
    spark: [],
  };

  it("shows the first and the last pair of values", () => {
    expect(reasonOf(group)).toBe("argument `rate`: 1 → 2, … 3 → 4");
  });

  it("names the type once and shortens long fractions", () => {
    const long = example("Python float 0.1", "Python float 0.0013741515996288068");
    expect(reasonOf({ ...group, examples: [long] })).toBe(
      "argument `rate`: Python float 0.1 → 0.00137415",
    );
  });

  it("says the cause where no argument differs", () => {
    expect(
      reasonOf({ ...group, argument: "", what: "", cause: "new_function", examples: [] }),
    ).toBe("new function");
  });
});

describe("filtered", () => {
  const runs = [run({ run: "vit/a", reported: 1 }), run({ run: "vit/b", reported: 2, live: true })];

  it("needs every word, newest first", () => {
    const names = (filter: string): string[] =>
      filtered(runs, filter, new Map()).map((one) => one.run);
    expect(names("")).toEqual(["vit/b", "vit/a"]);
    expect(names("VIT a")).toEqual(["vit/a"]);
    expect(names("live")).toEqual(["vit/b"]);
    expect(names("resnet")).toEqual([]);
  });

  it("filters by result, and never by a result that is not known", () => {
    const reports = new Map([["vit/a", report({ lost_fraction: 0.31 })]]);
    const names = (filter: string): string[] =>
      filtered(runs, filter, reports).map((one) => one.run);
    expect(names("lost>10")).toEqual(["vit/a"]);
    expect(names("lost>31.5")).toEqual([]);
    expect(names("cause:retrac")).toEqual(["vit/a"]);
    expect(names("cause:disk")).toEqual([]);
  });

  it("says the verdict, and a dash before it is known", () => {
    expect(verdictText(run({ live: true }), report())).toBe("● slowdown · live");
    expect(verdictText(run(), undefined)).toBe("–");
    expect(verdictText(run(), new Error("x"))).toBe("unreadable");
  });
});

describe("checks", () => {
  it("does not call checked what no signal saw", () => {
    const list = checks(
      report({
        signals: [{ signal: "retraces", status: "unavailable", reason: "another TensorFlow" }],
      }),
    );
    expect(list.find((check) => check.id === "retracing")).toEqual({
      id: "retracing",
      seen: false,
      text: "Another TensorFlow",
    });
    expect(list.find((check) => check.id === "thermal")?.seen).toBe(false);
    expect(tally(list).measured + tally(list).blind).toBe(22);
  });
});

describe("logScale", () => {
  it("holds the fastest and the slowest step, and survives a run without any", () => {
    const scale = logScale(timeline(10, 1));
    expect(scale.low).toBeLessThan(1);
    expect(scale.high).toBeGreaterThan(1);
    expect(logScale(timeline(0, 1))).toEqual({ low: 0.1, high: 1 });
  });
});
