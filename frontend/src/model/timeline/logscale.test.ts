import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { logScale } from "./logscale";

describe("logScale", () => {
  it("holds the fastest and the slowest step, and survives a run without any", () => {
    const scale = logScale(timeline(10, 1));
    expect(scale.low).toBeLessThan(1);
    expect(scale.high).toBeGreaterThan(1);
    expect(logScale(timeline(0, 1))).toEqual({ low: 0.1, high: 1 });
  });
});
