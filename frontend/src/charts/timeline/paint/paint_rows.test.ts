import { describe, expect, it } from "vitest";
import { notMeasured } from "./paint_rows";

describe("why a lane is empty", () => {
  it.each([
    [undefined, "not measured"],
    ["NVML is not installed: pip install x", "not measured: NVML is not installed: pip install x"],
    [
      "not measured here, because TF1 graphs run inside `session.run()`",
      "not measured: TF1 graphs run inside session.run()",
    ],
  ])("is said once, without backticks: %s", (reason, text) => {
    expect(notMeasured(reason)).toBe(text);
  });
});
