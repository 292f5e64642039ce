import { describe, expect, it } from "vitest";
import { laneOf, laneText, perStep, shortTitle, valueAt } from "./lane";

const signal = {
  signal: "rss_bytes",
  title: "Host memory",
  unit: "bytes",
  row: [0, 10, 20],
  value: [1, null, 3],
};

describe("lane", () => {
  it("keeps a gap a gap", () => {
    const lane = laneOf(signal);
    expect(valueAt(lane, 10)).toBeNull();
    expect(laneText(lane, 15)).toBe("–");
    expect(valueAt(lane, -1)).toBeNull();
    expect(valueAt(lane, 99)).toBe(3);
  });

  it("turns a counter into what it adds a step, and a counter that fell into a gap", () => {
    const counter = { row: [0, 10, 10, 20, 30], value: [0, 50, 60, 5, 25] };
    expect(perStep(counter)).toEqual({ row: [0, 10, 20, 30], value: [6, null, 2, 2] });
    expect(perStep({ row: [3], value: [7] })).toEqual({ row: [3], value: [null] });
    expect(perStep({ row: [0, 10], value: [0, null] }).value).toEqual([null, null]);
  });

  it("begins at zero unless values are below it", () => {
    expect(laneOf({ ...signal, value: [5, 6, 7] }).low).toBe(0);
    expect(laneOf({ ...signal, value: [-5, 6, 7] }).low).toBe(-5);
  });

  it("has a short name with its device", () => {
    expect(shortTitle("allocator_in_use_bytes:GPU:0", "Allocator")).toBe("GPU:0 in use");
    expect(shortTitle("rss_bytes", "x")).toBe("Host RSS");
    expect(shortTitle("something:else", "Its title")).toBe("Its title");
  });
});
