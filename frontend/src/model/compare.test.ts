import { describe, expect, it } from "vitest";
import { report } from "../../tests/make";
import { compare, differenceReading } from "./compare";

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
