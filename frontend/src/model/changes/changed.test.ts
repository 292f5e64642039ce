import { describe, expect, it } from "vitest";
import { changeText, stretchBefore } from "./changed";

describe("stretchBefore", () => {
  it("is four times as long, and begins with the run at the earliest", () => {
    expect(stretchBefore({ from: 400, to: 500 })).toEqual({ from: 0, to: 400 });
    expect(stretchBefore({ from: 50, to: 150 })).toEqual({ from: 0, to: 50 });
  });

  it("needs three rows", () => {
    expect(stretchBefore({ from: 2, to: 10 })).toBeUndefined();
  });
});

describe("changeText", () => {
  it("writes seconds as a step time and other units with what they are of", () => {
    expect(changeText(0.0123, "seconds", true)).toBe("12.3 ms");
    expect(changeText(2048, "bytes", true)).toBe("2.00 KiB per step");
    expect(changeText(2048, "bytes", false)).toBe("2.00 KiB");
  });
});
