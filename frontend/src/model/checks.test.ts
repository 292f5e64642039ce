import { describe, expect, it } from "vitest";
import { report } from "../../tests/make";
import { checks, tally } from "./checks";

describe("checks", () => {
  it("does not call checked what no signal saw", () => {
    const list = checks(
      report({
        signals: [{ signal: "retraces", status: "unavailable", reason: "another TensorFlow" }],
      }),
    );
    expect(list.find((check) => check.id === "retracing")).toEqual({
      id: "retracing",
      seen: false,
      text: "Another TensorFlow",
    });
    expect(list.find((check) => check.id === "thermal")?.seen).toBe(false);
    expect(tally(list).measured + tally(list).blind).toBe(22);
  });
});
