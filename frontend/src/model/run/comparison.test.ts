import { describe, expect, it } from "vitest";
import type { Difference } from "../../api/wire/comparison";
import { isDifferent, reading, sidesOf } from "./comparison";

describe("the sides of a comparison", () => {
  it("are the shown run and what it is compared with", () => {
    expect(sidesOf("new", ["old"], false)).toEqual({
      base: ["old"],
      runs: ["new"],
      isPooled: true,
    });
  });

  it("have repeats beside the run that they repeat", () => {
    expect(sidesOf("b/new-1", ["old 1", "old 2", "b/new-2"], true)).toEqual({
      base: ["old 1", "old 2"],
      runs: ["b/new-1", "b/new-2"],
      isPooled: true,
    });
  });

  it("are two even if all names are alike", () => {
    expect(sidesOf("run3", ["run1", "run2"], true)).toEqual({
      base: ["run1", "run2"],
      runs: ["run3"],
      isPooled: true,
    });
  });

  it("are columns where nobody says that runs are repeats, however they are named", () => {
    expect(sidesOf("run3", ["run1", "run2"], false)).toEqual({
      base: ["run1", "run2"],
      runs: ["run3"],
      isPooled: false,
    });
  });
});

describe("the reading of a difference", () => {
  const difference = (values: Partial<Difference>): Difference => ({
    term: "retracing",
    base_seconds: 1,
    with_seconds: 2,
    difference_seconds: 1,
    interval_seconds: [0.5, 1.5],
    fraction: 0.1,
    outcome: "slower",
    ...values,
  });

  it("says when chance could make it", () => {
    expect(reading(difference({ outcome: "not_enough_repeats" }), null)).toContain(
      "not enough repeats",
    );
    expect(isDifferent("not_enough_repeats")).toBe(false);
  });

  it("says what is new, gone, slower or moved", () => {
    expect(reading(difference({ base_seconds: 0 }), null)).toBe("new");
    expect(reading(difference({ with_seconds: 0, outcome: "faster" }), null)).toBe("gone");
    expect(reading(difference({}), null)).toBe("slower");
    const moved = difference({ outcome: "moved" });
    const same = difference({ outcome: "no_difference" });
    expect(reading(moved, same)).toBe("moved between categories, step time unchanged");
    expect(reading(moved, difference({}))).toBe("moved between categories");
  });
});
