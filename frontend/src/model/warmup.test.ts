import { describe, expect, it } from "vitest";
import { timeline } from "../../tests/make";
import { warmUpParts } from "./warmup";

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
