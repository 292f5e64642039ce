import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { ceiling, chosenLayers, layers, ranked, tops } from "./stack";

const data = timeline(30, 10, {
  healthy: [1, 1, null],
  lost: {
    unexplained: [9, 9, 9],
    retracing: [0, 2, 3],
    warm_up: [1, 0, 0],
    input_pipeline: [0, 6, 0],
    disk: [0, 0, 0],
  },
});

describe("stack", () => {
  it("ranks by seconds, unexplained last, nothing that is zero", () => {
    expect(ranked(data)).toEqual(["input_pipeline", "retracing", "warm_up", "unexplained"]);
  });

  it("stands healthy, warm-up, causes by rank, unexplained", () => {
    const ids = layers(data, ranked(data), false).map((layer) => layer.id);
    expect(ids).toEqual(["healthy", "warm_up", "input_pipeline", "retracing", "unexplained"]);
    expect(layers(data, ranked(data), true).map((layer) => layer.id)).not.toContain("healthy");
  });

  it("cumulates, so that the top is what a step takes", () => {
    const heights = tops(layers(data, ranked(data), false));
    expect(heights.at(-1)).toEqual([11, 18, 12]);
  });
});

describe("a click on the legend", () => {
  it("shows one alone, and all again", () => {
    expect(chosenLayers([], "gc", false)).toEqual(["gc"]);
    expect(chosenLayers(["gc", "disk"], "gc", false)).toEqual(["gc"]);
    expect(chosenLayers(["gc"], "disk", false)).toEqual(["disk"]);
    expect(chosenLayers(["gc"], "gc", false)).toEqual([]);
  });

  it("with Ctrl adds one or hides it", () => {
    expect(chosenLayers(["gc"], "disk", true)).toEqual(["gc", "disk"]);
    expect(chosenLayers(["gc", "disk"], "gc", true)).toEqual(["disk"]);
    expect(chosenLayers([], "gc", true)).toEqual(["gc"]);
  });
});

describe("ceiling", () => {
  it("cuts one slow step rather than flatten a thousand", () => {
    const heights = [142, ...Array.from({ length: 999 }, () => 0.5)];
    expect(ceiling(heights)).toBeGreaterThan(0.5);
    expect(ceiling(heights)).toBeLessThan(1);
  });

  it("holds everything where steps are alike, and is one where there are none", () => {
    expect(ceiling([0.5, 0.52, 0.51])).toBeGreaterThanOrEqual(0.52);
    expect(ceiling([])).toBe(1);
    expect(ceiling([0, 0])).toBe(1);
  });
});
