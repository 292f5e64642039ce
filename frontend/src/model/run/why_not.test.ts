import { describe, expect, it } from "vitest";
import { whyNot } from "./measurement_summary";

describe("whyNot", () => {
  it("tells a failure and a choice from what is unavailable", () => {
    const state = { signal: "allocator", reason: "no device tells" };
    expect(whyNot({ ...state, status: "unavailable" })).toBe("no device tells");
    expect(whyNot({ ...state, status: "failed" })).toBe("the collector failed: no device tells");
    expect(whyNot({ ...state, status: "off", reason: "" })).toBe("switched off");
    expect(whyNot({ ...state, status: "off" })).toBe("switched off: no device tells");
  });
});
