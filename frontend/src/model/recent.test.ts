import { describe, expect, it } from "vitest";
import { timeline } from "../../tests/make";
import { recentMedian } from "./recent";

describe("recentMedian", () => {
  it("is the level at the end, and none in a short run", () => {
    const median = Array.from({ length: 200 }, (_, row) => (row < 150 ? 1 : 3));
    const data = timeline(200, 1);
    const slow = { ...data, step_seconds: { ...data.step_seconds, median } };
    expect(recentMedian(slow)).toEqual({ seconds: 3, rows: 20 });
    expect(recentMedian(timeline(50, 1))).toBeUndefined();
  });
});
