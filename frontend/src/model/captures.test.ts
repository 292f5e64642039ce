import { describe, expect, it } from "vitest";
import type { Capture, CaptureEntry } from "../api/types";
import { pairOf, shortName, stepName, viewerAddress } from "./captures";

const entry = (id: string, values: Partial<CaptureEntry> = {}): CaptureEntry => ({
  id,
  session: id,
  host: "vm",
  hosts: ["vm"],
  bytes: 1,
  automatic: null,
  ...values,
});

const capture = {
  id: "a b/2026_11_21_06_40_12",
  host: "vm",
  steps: { number: [41, null], begin_seconds: [0.2, 0.3], seconds: [0.1, 0.02] },
} as unknown as Capture;

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

describe("the trace viewer", () => {
  it("opens at the step, behind any prefix", () => {
    const base = "http://host/deep/tb/data/plugin/slowdown/plugin_entry.html";
    const url = new URL(viewerAddress(capture, 0, base), base);
    expect(url.pathname).toBe("/deep/tb/data/plugin/profile/trace_viewer_index.html");
    expect(url.searchParams.get("view_start")).toBe("195.000");
    expect(url.searchParams.get("view_end")).toBe("305.000");
    const data = new URL(url.searchParams.get("trace_data_url") ?? "", base);
    expect(data.pathname).toBe("/deep/tb/data/plugin/profile/data");
    expect(data.searchParams.get("run")).toBe("a b/2026_11_21_06_40_12");
    expect(data.searchParams.get("tag")).toBe("trace_viewer@");
    expect(data.origin).toBe("http://host");
  });
  it("opens whole without a step", () => {
    expect(viewerAddress(capture, undefined, "http://h/x/y/")).not.toContain("view_start");
  });
});

it("names steps and stages", () => {
  expect(stepName(capture, 0)).toBe("Step 41");
  expect(stepName(capture, 1)).toBe("The whole capture");
  expect(shortName("stage", "Iterator::Root::Map")).toBe("Iterator::Map");
  expect(shortName("operation", "a/MatMul:MatMul")).toBe("a/MatMul:MatMul");
});
