import { describe, expect, it } from "vitest";
import { report, run, timeline } from "../../tests/make";
import { Client } from "./client";
import { ELEMENT, type Embedded, type EmbeddedRun, embeddedFetch, timelineOf } from "./embedded";
import type { RunComparison } from "./wire/comparison";

const signal = {
  signal: "rss_bytes",
  title: "Memory",
  unit: "bytes",
  row: [0, 30, 60, 90],
  value: [1, 2, 3, 4],
};
const mark = (row: number) => ({ row, step: row, count: 1, seconds: 1 });
const marks = { retraces: [mark(5), mark(45)], gc: [], checkpoints: [mark(95)], captures: [] };

const embedded = (): EmbeddedRun => ({
  report: { schema: 1, runs: [report()] },
  retraces: {
    status: { status: "measured", reason: "" },
    watched: 1,
    seconds: 0,
    traces: 0,
    groups: [],
    library: [],
  },
  tiles: [
    timeline(100, 10, { marks }),
    timeline(100, 2, { marks }),
    { ...timeline(100, 1), last: 19 },
  ],
  signals: [signal],
});

const page = (data: Embedded): Document => {
  const parsed = new DOMParser().parseFromString("<body></body>", "text/html");
  const element = parsed.createElement("script");
  element.type = "application/json";
  element.id = ELEMENT;
  element.textContent = JSON.stringify(data);
  parsed.body.append(element);
  return parsed;
};

describe("timelineOf", () => {
  it("takes the coarsest tile that is fine enough", () => {
    expect(timelineOf(embedded(), 0, 99, 10)?.bucket_rows).toBe(10);
    expect(timelineOf(embedded(), 0, 99, 40)?.bucket_rows).toBe(2);
  });

  it("takes the finest there is where none is fine enough", () => {
    expect(timelineOf(embedded(), 20, 59, 100)?.bucket_rows).toBe(2);
    expect(timelineOf(embedded(), 3, 15, 100)?.bucket_rows).toBe(1);
  });

  it("cuts every column to the buckets that hold the rows", () => {
    const cut = timelineOf(embedded(), 41, 47, 4);
    expect(cut).toMatchObject({ first: 40, last: 47, row: [40, 42, 44, 46], count: [2, 2, 2, 2] });
    expect(cut?.step_seconds.median).toHaveLength(4);
    expect(cut?.marks.retraces).toEqual([mark(45)]);
    expect(cut?.marks.checkpoints).toEqual([]);
  });

  it("keeps a sample on each side, so that a line reaches the edges", () => {
    expect(timelineOf(embedded(), 40, 49, 100)?.signals[0]?.row).toEqual([30, 60]);
    expect(timelineOf(embedded(), 0, 99, 10)?.signals[0]?.value).toEqual([1, 2, 3, 4]);
  });
});

describe("embeddedFetch", () => {
  it("is there only where the page has data", () => {
    expect(embeddedFetch(new DOMParser().parseFromString("", "text/html"))).toBeUndefined();
  });

  it("answers each route, and refuses what is not there", async () => {
    const data = { runs: { runs: [run()], other_runs: 0 }, of: { run1: embedded() } };
    const client = new Client(embeddedFetch(page(data)));
    expect(await client.runs()).toEqual(data.runs);
    expect(await client.report("run1")).toEqual(report());
    expect((await client.retraces("run1")).watched).toBe(1);
    expect((await client.timeline("run1", { first: 0, last: 500, buckets: 10 })).last).toBe(99);
    await expect(client.report("run2")).rejects.toThrow("doesn't contain");
    await expect(client.report("constructor")).rejects.toThrow("doesn't contain");
  });
});

describe("comparisons in a report", () => {
  const told = { headline: "Steps are 20% slower" } as RunComparison;
  const client = new Client(
    embeddedFetch(
      page({
        runs: { runs: [run(), run({ run: "b" })], other_runs: 0 },
        of: { run1: embedded(), b: embedded() },
        comparisons: { run1: { b: told } },
      }),
    ),
  );

  it("are those of two runs", async () => {
    expect(await client.comparison(["run1"], ["b"])).toEqual(told);
  });

  it.each([
    [["b"], ["run1"]],
    [["run1"], ["toString"]],
    [["run1", "b"], ["b"]],
  ])("say where the others are: %j against %j", async (base, runs) => {
    await expect(client.comparison(base, runs)).rejects.toThrow("use `tbslow compare`");
  });
});
