import { describe, expect, it, vi } from "vitest";
import type { Difference, RunComparison, SideBySide } from "../api/wire/comparison";
import type { Comparison } from "./comparison_chart";
import "./comparison_chart";

const difference = (values: Partial<Difference> = {}): Difference => ({
  term: "step",
  base_seconds: 0.05,
  with_seconds: 0.06,
  difference_seconds: 0.01,
  interval_seconds: [0.005, 0.015],
  fraction: 0.2,
  outcome: "slower",
  ...values,
});

const told = (values: Partial<RunComparison> = {}): RunComparison => ({
  schema: 1,
  headline: "Steps are 20% slower",
  base: ["a"],
  other: ["b"],
  unit: "step",
  outcome: "slower",
  total: difference(),
  quiet: difference({ term: "quiet" }),
  terms: [
    difference({ term: "retracing", base_seconds: 0 }),
    difference({
      term: "healthy",
      difference_seconds: -0.001,
      interval_seconds: [-0.004, 0.002],
      outcome: "not_enough_repeats",
    }),
    difference({ term: "disk", base_seconds: 0, with_seconds: 0 }),
  ],
  warm_up: difference({ term: "warm_up" }),
  spread_fraction: null,
  repeats_wanted: null,
  notes: ["One run a side."],
  ...values,
});

const BESIDE: SideBySide = {
  schema: 1,
  unit: "step",
  runs: ["a", "b", "c"],
  settings: [{ name: "batch_size", values: ["64", "64", "128"] }],
  terms: [
    {
      term: "retracing",
      seconds: [0, 0.2, 0],
      differences: [
        null,
        difference({ term: "retracing", base_seconds: 0, difference_seconds: 0.2 }),
        null,
      ],
    },
    { term: "disk", seconds: [0, 0, 0], differences: [null, null, null] },
  ],
  step_seconds: [0.1, 0.3, 0.1],
  totals: [
    null,
    difference({ difference_seconds: 0.2 }),
    difference({ difference_seconds: 0, outcome: "no_difference" }),
  ],
  warm_up_seconds: [2, 2, 2],
  headlines: ["", "Steps are slower", "No difference"],
  reasons: [[], ["`rate` was a tensor in a."], []],
};

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function mounted(answer: () => Promise<RunComparison>): Promise<Comparison> {
  const element = document.createElement("sd-comparison") as Comparison;
  element.source = { comparison: answer, sideBySide: async () => BESIDE };
  element.sides = { base: ["a"], runs: ["b"], isPooled: true };
  await settled();
  return element;
}

const rowsOf = (element: Comparison): string[][] =>
  [...element.querySelectorAll("tbody tr, tfoot tr")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent?.trim() ?? ""),
  );

describe("the comparison", () => {
  it("has a row for each term that there is, the sum and its faster half", async () => {
    const rows = rowsOf(await mounted(async () => told()));
    expect(rows.map((row) => row[0]?.replace(/^\w\w\s+/, ""))).toEqual([
      "Retracing",
      "Healthy",
      "Sum",
      "Fastest 50% of steps",
    ]);
    expect(rows[0]?.slice(1, 5)).toEqual(["0 ms", "60.0 ms", "+10.0 ms", "+5.00 ms … +15.0 ms"]);
    expect(rows.map((row) => row[6])).toEqual(["new", "not enough repeats", "slower", "slower"]);
  });

  it("draws the interval around the difference", async () => {
    const element = await mounted(async () => told());
    const [bar, line] = [...element.querySelectorAll<HTMLElement>(".db > *")];
    expect(bar?.style.left).toBe("50%");
    expect(Number.parseFloat(bar?.style.width ?? "")).toBeCloseTo(49 * (10 / 15), 1);
    expect(Number.parseFloat(line?.style.left ?? "")).toBeCloseTo(50 + 49 / 3, 1);
    expect(Number.parseFloat(line?.style.width ?? "")).toBeCloseTo(49 * (10 / 15), 1);
  });

  it("says the sentence and the notes of the server", async () => {
    const element = await mounted(async () => told());
    expect(element.querySelector(".headline")?.textContent).toBe("Steps are 20% slower.");
    expect(element.textContent).toContain("One run a side.");
  });

  it("says why there is no answer", async () => {
    const element = await mounted(() => Promise.reject(new Error("run 'b' has no step yet")));
    expect(element.textContent).toContain("run 'b' has no step yet");
  });

  it("asks once for each pair of sides, and again when a run has grown", async () => {
    const comparison = vi.fn(async () => told());
    const element = await mounted(comparison);
    element.sides = { base: ["a"], runs: ["b"], isPooled: true };
    await settled();
    expect(comparison).toHaveBeenCalledTimes(1);
    element.sides = { base: ["a", "c"], runs: ["b"], isPooled: true };
    await settled();
    expect(comparison).toHaveBeenLastCalledWith(["a", "c"], ["b"]);
    element.source = { comparison, sideBySide: async () => BESIDE };
    await settled();
    expect(comparison).toHaveBeenCalledTimes(3);
  });

  it("does not show the answer about sides that were left", async () => {
    let answer: (found: RunComparison) => void = () => undefined;
    const slow = new Promise<RunComparison>((resolve) => {
      answer = resolve;
    });
    const comparison = vi.fn(async () => told({ headline: "new" }));
    comparison.mockReturnValueOnce(slow);
    const element = await mounted(comparison);
    element.sides = { base: ["c"], runs: ["b"], isPooled: true };
    await settled();
    answer(told({ headline: "old" }));
    await settled();
    expect(element.querySelector(".headline")?.textContent).toBe("new.");
  });

  it("puts settings and reasons before the table, under the runs' names", async () => {
    const settings = [{ name: "tensorflow", base: "2.20", other: "2.21" }];
    const element = await mounted(async () => told({ settings, reasons: ["A reason."] }));
    const before = element.querySelector(".headlines")?.textContent ?? "";
    expect(before).toContain("tensorflow: 2.20 to 2.21");
    expect(before).toContain("A reason.");
    const heads = [...element.querySelectorAll("th")].map((one) => one.textContent);
    expect(heads.slice(0, 3)).toEqual(["Per step", "a", "b"]);
  });

  it("has a column for each of several runs, settings first", async () => {
    const element = await mounted(async () => told());
    element.called = (run) => `run ${run}`;
    element.sides = { base: ["a", "b"], runs: ["c"], isPooled: false };
    await settled();
    expect([...element.querySelectorAll("th")].map((one) => one.textContent)).toEqual([
      "Per step",
      "run a",
      "run b",
      "run c",
    ]);
    expect(rowsOf(element)).toEqual([
      ["batch size", "64", "64", "128"],
      ["Rt Retracing", "0 ms", "200.0 ms +200.0 ms", "0 ms"],
      ["Sum", "100.0 ms", "300.0 ms +200.0 ms", "100.0 ms"],
      ["Warm-up", "2.00 s", "2.00 s", "2.00 s"],
    ]);
    expect(element.textContent).toContain("run b: rate was a tensor in a.");
  });
});
