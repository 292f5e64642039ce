import { describe, expect, it } from "vitest";
import { elapsed, logTicks, niceBytes, niceCeiling, niceTicks, timeTicks } from "./ticks";

describe("ticks", () => {
  it("are round and inside", () => {
    expect(niceTicks(0, 1.2, 5)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(niceTicks(8200, 8600, 4)).toEqual([8200, 8300, 8400, 8500, 8600]);
    expect(niceTicks(5, 5, 4)).toEqual([]);
  });

  it("end a scale above what it holds", () => {
    expect(niceCeiling(9.24)).toBe(10);
    expect(niceCeiling(0)).toBe(1);
    expect(niceBytes(11.9 * 2 ** 30)).toBe(12.5 * 2 ** 30);
  });

  it("thin out over many decades", () => {
    expect(logTicks(0.5, 20)).toEqual([0.5, 1, 5, 10]);
    expect(logTicks(0.001, 100)).toEqual([0.001, 0.01, 0.1, 1, 10, 100].filter((t) => t <= 100));
    expect(logTicks(0, 1)).toEqual([]);
  });

  it("stand at round moments", () => {
    expect(timeTicks(0, 3600, 4)).toEqual([0, 900, 1800, 2700, 3600]);
    expect(elapsed(3900, 900)).toBe("1:05:00");
    expect(elapsed(75, 15)).toBe("1:15");
    expect(elapsed(0.25, 0.05)).toBe("0.25 s");
  });
});
