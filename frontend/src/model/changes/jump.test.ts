import { describe, expect, it } from "vitest";
import { timeline } from "../../../tests/make";
import { nextChange } from "./jump";

describe("jump", () => {
  const data = timeline(1000, 1, {
    change_points: [300, 700].map((row) => ({ row, step: row, text: "" })),
  });

  it("goes to the next and the previous, and around", () => {
    expect(nextChange(data, 1, 0)?.selection.from).toBe(300);
    expect(nextChange(data, 1, 300)?.selection.from).toBe(700);
    expect(nextChange(data, 1, 700)?.selection.from).toBe(300);
    expect(nextChange(data, -1, 300)?.selection.from).toBe(700);
  });

  it("has nowhere to go without change points", () => {
    expect(nextChange(timeline(10, 1), 1, 0)).toBeUndefined();
  });
});
