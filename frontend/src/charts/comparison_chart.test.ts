import { describe, expect, it, vi } from "vitest";
import type { Difference, RunComparison } from "../api/wire/comparison";
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
  headline: "Steps are 20 % slower",
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

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

async function mounted(answer: () => Promise<RunComparison>): Promise<Comparison> {
  const element = document.createElement("sd-comparison") as Comparison;
  element.source = { comparison: answer };
  element.sides = { base: ["a"], runs: ["b"] };
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
      "Its faster half",
    ]);
    expect(rows[0]?.slice(1, 5)).toEqual(["0 ms", "60.0 ms", "+10.0 ms", "+5.00 ms … +15.0 ms"]);
    expect(rows.map((row) => row[6])).toEqual([
      "new",
      "not enough repeats to tell",
      "slower",
      "slower",
    ]);
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
    expect(element.querySelector(".headline")?.textContent).toBe("Steps are 20 % slower.");
    expect(element.textContent).toContain("One run a side.");
  });

  it("says why there is no answer", async () => {
    const element = await mounted(() => Promise.reject(new Error("run 'b' has no step yet")));
    expect(element.textContent).toContain("run 'b' has no step yet");
  });

  it("asks once for each pair of sides, and again when a run has grown", async () => {
    const comparison = vi.fn(async () => told());
    const element = await mounted(comparison);
    element.sides = { base: ["a"], runs: ["b"] };
    await settled();
    expect(comparison).toHaveBeenCalledTimes(1);
    element.sides = { base: ["a", "c"], runs: ["b"] };
    await settled();
    expect(comparison).toHaveBeenLastCalledWith(["a", "c"], ["b"]);
    element.source = { comparison };
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
    element.sides = { base: ["c"], runs: ["b"] };
    await settled();
    answer(told({ headline: "old" }));
    await settled();
    expect(element.querySelector(".headline")?.textContent).toBe("new.");
  });
});
