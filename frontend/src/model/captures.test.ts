import { describe, expect, it } from "vitest";
import type { Capture, CaptureEntry } from "../api/wire/captures";
import {
  chosenName,
  nearest,
  pairOf,
  shortName,
  spansOf,
  stepBeside,
  viewerAddress,
} from "./captures";

const entry = (id: string, values: Partial<CaptureEntry> = {}): CaptureEntry => ({
  id,
  session: id,
  host: "vm",
  hosts: ["vm"],
  bytes: 1,
  automatic: null,
  ...values,
});

const captured = (chosen: Capture["chosen"], values: Partial<Capture["steps"]> = {}): Capture =>
  ({
    id: "a b/2026_11_21_06_40_12",
    host: "vm",
    chosen,
    steps: {
      by: "step_num",
      count: 3,
      number: [41, 42, 43],
      place: [7, null, 9],
      begin_seconds: [0.2, 0.3, 0.32],
      seconds: [0.1, 0.02, 0.1],
      ...values,
    },
  }) as unknown as Capture;

describe("the pair to compare", () => {
  it("is what the monitor took", () => {
    const captures = [
      entry("1", { automatic: "steady", step_seconds: 0.2 }),
      entry("2", { step_seconds: 0.1 }),
      entry("3", { automatic: "slower", step_seconds: 0.4 }),
    ];
    expect(pairOf(captures)).toEqual({ fast: "1", slow: "3" });
  });
  it("else the fastest and the slowest that can be read", () => {
    const captures = [
      entry("1", { step_seconds: 0.2 }),
      entry("2", { step_seconds: 0.9, error: "broken" }),
      entry("3", { step_seconds: 0.4 }),
      entry("4", { step_seconds: null }),
    ];
    expect(pairOf(captures)).toEqual({ fast: "1", slow: "3" });
    expect(pairOf(captures.slice(0, 2))).toBeUndefined();
  });
});

describe("the capture of given steps", () => {
  const captures = [
    entry("early", { first_row: 100, last_row: 109, first_step: 5100 }),
    entry("broken", { first_row: 200, last_row: 209, error: "broken" }),
    entry("late", { first_row: 300, last_row: 309, first_step: 5300 }),
    entry("outside", { first_row: null, last_row: null }),
  ];
  it("is opened at those of them that it has", () => {
    expect(nearest(captures, { from: 104, to: 105 })).toEqual({
      id: "early",
      at: { from: 104, to: 105 },
    });
    expect(nearest(captures, { from: 108, to: 308 })).toEqual({
      id: "late",
      at: { from: 300, to: 308 },
    });
  });
  it("is the nearest where none has them, opened whole", () => {
    expect(nearest(captures, { from: 200, to: 201 })).toEqual({ id: "early" });
    expect(nearest(captures, { from: 290, to: 291 }, 10)).toEqual({ id: "late" });
    expect(nearest(captures, { from: 280, to: 281 }, 10)).toBeUndefined();
    expect(nearest([], { from: 0, to: 9 })).toBeUndefined();
  });
  it("lies on the timeline, also where only the monitor saw it", () => {
    expect(spansOf(captures, [], "late")).toEqual([
      { from: 100, to: 110, step: 5100, isOpen: false },
      { from: 300, to: 310, step: 5300, isOpen: true },
    ]);
    expect(spansOf(undefined, [{ row: 4, step: 9, count: 1, seconds: 0 }])).toEqual([
      { from: 4, to: 5, step: 9 },
    ]);
  });
});

describe("from step to step", () => {
  it("goes over those that can be asked for", () => {
    expect(stepBeside(captured([0, 0]), 1)).toEqual({ from: 9, to: 10 });
    expect(stepBeside(captured([2, 2]), -1)).toEqual({ from: 7, to: 8 });
    expect(stepBeside(captured([2, 2]), 1)).toBeUndefined();
    const shared = { place: [7, 7, 9] };
    expect(stepBeside(captured([0, 0], shared), 1)).toEqual({ from: 9, to: 10 });
    expect(stepBeside(captured([0, 1], shared), -1)).toBeUndefined();
    expect(stepBeside(captured(null), 1)).toEqual({ from: 7, to: 8 });
    expect(stepBeside(captured(null), -1)).toEqual({ from: 9, to: 10 });
  });
});

describe("the trace viewer", () => {
  const base = "http://host/deep/tb/data/plugin/slowdown/plugin_entry.html";
  it("opens at the steps, behind any prefix", () => {
    const url = new URL(viewerAddress(captured([0, 0]), base), base);
    expect(url.pathname).toBe("/deep/tb/data/plugin/profile/trace_viewer_index.html");
    expect(url.searchParams.get("view_start")).toBe("195.000");
    expect(url.searchParams.get("view_end")).toBe("305.000");
    const data = new URL(url.searchParams.get("trace_data_url") ?? "", base);
    expect(data.pathname).toBe("/deep/tb/data/plugin/profile/data");
    expect(data.searchParams.get("run")).toBe("a b/2026_11_21_06_40_12");
    expect(data.searchParams.get("tag")).toBe("trace_viewer@");
    expect(data.origin).toBe("http://host");
    const both = new URL(viewerAddress(captured([1, 2]), base), base);
    expect(both.searchParams.get("view_start")).toBe("294.000");
    expect(both.searchParams.get("view_end")).toBe("426.000");
  });
  it("opens whole without a step", () => {
    expect(viewerAddress(captured(null), "http://h/x/y/")).not.toContain("view_start");
  });
});

it("names steps and stages", () => {
  expect(chosenName(captured([1, 1]))).toBe("Step 42");
  expect(chosenName(captured([0, 1]))).toBe("Mean of steps 41–42");
  expect(chosenName(captured(null))).toBe("Mean of 3 steps, 41–43");
  expect(chosenName(captured(null, { count: 2, number: [0, 0] }))).toBe("Mean of 2 steps, 0");
  expect(chosenName(captured(null, { by: "whole" }))).toBe("The whole capture");
  expect(shortName("stage", "Iterator::Root::Prefetch::Map")).toBe("Iterator::Map");
  const long = shortName("kernel", `void ${"Eigen::".repeat(90)}Assign<half>(long)`);
  expect(long).toHaveLength(97);
  expect(long).toMatch(/^void Eigen::.*….*::Assign<half>\(long\)$/);
  expect(shortName("operation", "a/MatMul:MatMul")).toBe("a/MatMul:MatMul");
});
