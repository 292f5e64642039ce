import { describe, expect, it } from "vitest";
import { bisectRight, indexAt, interpolate } from "./numbers";

describe("bisect", () => {
  it("counts values up to a limit", () => {
    expect(bisectRight([1, 3, 3, 7], 3)).toBe(3);
    expect(bisectRight([1, 3, 3, 7], 0)).toBe(0);
    expect(bisectRight([], 1)).toBe(0);
  });

  it("finds the last value at or below, at least the first", () => {
    expect(indexAt([10, 20, 30], 25)).toBe(1);
    expect(indexAt([10, 20, 30], 5)).toBe(0);
  });

  it("interpolates, flat beyond the ends, also over equal places", () => {
    expect(interpolate([0, 10], [100, 200], 2.5)).toBe(125);
    expect(interpolate([0, 10], [100, 200], -1)).toBe(100);
    expect(interpolate([0, 10], [100, 200], 11)).toBe(200);
    expect(interpolate([0, 5, 5, 10], [0, 1, 2, 3], 5)).toBe(2);
  });
});
