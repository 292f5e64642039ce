import { describe, expect, it } from "vitest";
import { timeline } from "../../tests/make";
import { changesOf, changeText, stretchBefore } from "./changed";

const rows = 500;
const selection = { from: 400, to: 500 };
const before = { from: 0, to: 400 };
/** A little noise that is the same in every run of the test. */
const noise = (row: number): number => ((row * 7919) % 101) / 101 - 0.5;
const every = Array.from({ length: rows }, (_, row) => row);
const signal = (name: string, value: (row: number) => number | null) => ({
  signal: name,
  title: name,
  unit: "count",
  row: every,
  value: every.map(value),
});

const changes = (series: ReturnType<typeof signal>[]) =>
  changesOf(timeline(rows, 1, { signals: series }), before, selection).changes;

describe("changesOf", () => {
  it("names a jump, and where", () => {
    const found = changes([signal("jump", (row) => (row < 400 ? 10 : 20) + noise(row))]);
    expect(found[0]).toMatchObject({ id: "jump", kind: "changed", reading: "jumps at step 400" });
    expect(found[0]?.difference).toBeCloseTo(10, 0);
  });

  it("greys what grows as it did before", () => {
    const found = changes([signal("rss", (row) => 1000 + 10 * row + noise(row))]);
    expect(found.find((change) => change.id === "rss")).toMatchObject({
      kind: "trend",
      reading: "grows as it did before: nothing new here",
    });
  });

  it("does not name noise", () => {
    const found = changes([signal("noise", (row) => 10 + noise(row))]);
    expect(found.every((change) => change.kind === "same")).toBe(true);
  });

  it("ranks the strongest change first, trends and sames after it", () => {
    const found = changes([
      signal("weak", (row) => (row < 400 ? 10 : 13) + noise(row)),
      signal("trend", (row) => row + noise(row)),
      signal("strong", (row) => (row < 400 ? 10 : 30) + noise(row)),
    ]);
    expect(found.map((change) => change.id)).toEqual(["strong", "weak", "trend", "step_time"]);
  });

  it("leaves out what has too few values, and does not take a gap for zero", () => {
    const found = changes([
      signal("rare", (row) => (row < 2 ? 1 : null)),
      signal("gaps", (row) => (row % 2 ? null : 10 + noise(row))),
    ]);
    expect(found.map((change) => change.id)).not.toContain("rare");
    expect(found.find((change) => change.id === "gaps")?.here.median).toBeCloseTo(10, 0);
  });

  it("says begins where there was nothing before", () => {
    const lost = { retracing: every.map((row) => (row < 400 ? 0 : 0.2)) };
    const found = changesOf(timeline(rows, 1, { lost }), before, selection).changes;
    expect(found[0]).toMatchObject({ id: "retracing", reading: "begins at step 400" });
  });
});

describe("stretchBefore", () => {
  it("is four times as long, as far as the run reaches", () => {
    expect(stretchBefore({ from: 8200, to: 8600 })).toEqual({ from: 6600, to: 8200 });
    expect(stretchBefore({ from: 100, to: 200 })).toEqual({ from: 0, to: 100 });
    expect(stretchBefore({ from: 0, to: 200 })).toBeUndefined();
  });
});

it("writes values in their unit", () => {
  expect(changeText(0.1995, "seconds a step")).toBe("199.5 ms");
  expect(changeText(3, "count a step")).toBe("3 a step");
  expect(changeText(2 ** 30, "bytes")).toBe("1.00 GiB");
});
