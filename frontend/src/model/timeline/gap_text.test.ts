import { describe, expect, it } from "vitest";
import { gapsText, gapText } from "./gap_text";

const gap = (after_step: number, before_step: number, seconds: number) => ({
  row: after_step,
  steps: before_step - after_step - 1,
  after_step,
  before_step,
  seconds,
});

describe("gapText", () => {
  it("says how many steps are missing", () => {
    expect(gapText(gap(383, 640, 13))).toBe("256 steps missing");
    expect(gapText(gap(383, 385, 1))).toBe("1 step missing");
  });
});

describe("gapsText", () => {
  it("says nothing of a complete run", () => {
    expect(gapsText([])).toBe("");
  });

  it("names where and how long", () => {
    expect(gapsText([gap(383, 640, 13), gap(1000, 1501, 90)])).toBe(
      " (256 steps between 383 and 640, 13.0 s; 500 steps between 1,000 and 1,501, 1 min 30 s)",
    );
  });

  it("names three, and counts the others", () => {
    const gaps = [1, 2, 3, 4, 5].map((each) => gap(each * 100, each * 100 + 11, 13));
    expect(gapsText(gaps)).toMatch(/; 10 steps between 300 and 311, 13.0 s; 2 other places\)$/);
  });
});
