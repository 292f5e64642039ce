import { describe, expect, it } from "vitest";
import DURATIONS from "../../tests/durations.json";
import {
  ago,
  bytes,
  count,
  decimal,
  duration,
  ledgerSeconds,
  percent,
  plain,
  plural,
  quantity,
  range,
  signed,
  stepTime,
} from "./format";

describe("numbers", () => {
  it("separates thousands and puts the unit after a space", () => {
    expect(ledgerSeconds(1422.87)).toBe("1,422.9 s");
    expect(count(12400)).toBe("12,400");
    expect(percent(0.153)).toBe("15.3%");
  });

  it("shows what was not measured as a dash, never as zero", () => {
    for (const show of [count, ledgerSeconds, percent, duration, stepTime, bytes]) {
      expect(show(null)).toBe("–");
      expect(show(Number.NaN)).toBe("–");
    }
    expect(quantity(undefined, "bytes")).toBe("–");
  });

  it("never shows zero for what is above zero", () => {
    expect(ledgerSeconds(0.004, 20)).toBe("<0.01 s");
    expect(ledgerSeconds(0.004)).toBe("<0.1 s");
    expect(percent(0.0004)).toBe("<0.1%");
    expect(stepTime(2e-8)).toBe("<0.1 µs");
    expect([ledgerSeconds(0), percent(0), stepTime(0)]).toEqual(["0.0 s", "0.0%", "0 ms"]);
  });

  it("has one minus sign, and none for what rounds to zero", () => {
    expect(decimal(-3.14, 1)).toBe("−3.1");
    expect(decimal(-0.001, 1)).toBe("0.0");
  });

  it.each(DURATIONS as [number, string][])("writes %d seconds as %s", (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });

  it.each([
    [0, "0 ms"],
    [0.5175, "517.5 ms"],
    [0.0024, "2.40 ms"],
    [0.0000123, "12.3 µs"],
    [6.4, "6.40 s"],
    [142.5, "142.5 s"],
    [0.99996, "1.00 s"],
  ])("writes a step of %d seconds as %s", (seconds, text) => {
    expect(stepTime(seconds)).toBe(text);
  });

  it("chooses the binary unit that suits, or takes the one of the scale", () => {
    expect(bytes(9.24 * 2 ** 30)).toBe("9.24 GiB");
    expect(bytes(2 ** 20 * 11.9)).toBe("11.9 MiB");
    expect(bytes(512)).toBe("512 B");
    expect(bytes(2 ** 29, 3)).toBe("0.50 GiB");
  });

  it("writes small numbers with two digits", () => {
    expect([0.001, 0.00034567, 0.25, 32].map(plain)).toEqual(["0.001", "0.00035", "0.25", "32"]);
  });

  it("signs differences", () => {
    expect(signed(0.199, stepTime)).toBe("+199.0 ms");
    expect(signed(-8, count)).toBe("−8");
    expect(signed(0, count)).toBe("±0");
    expect(signed(null, count)).toBe("–");
  });

  it("writes ranges inclusive", () => {
    expect(range(8200, 8599)).toBe("8,200–8,599");
    expect(range(7, 7)).toBe("7");
  });

  it("knows units of signals, and writes an unknown one after the number", () => {
    expect(quantity(45, "celsius")).toBe("45 °C");
    expect(quantity(0.5, "fraction")).toBe("50.0%");
    expect(quantity(3, "count")).toBe("3");
    expect(quantity(3, "parsecs")).toBe("3 parsecs");
  });

  it("counts in singular and plural, and says how long ago", () => {
    expect(plural(1, "step")).toBe("1 step");
    expect(plural(2000, "step")).toBe("2,000 steps");
    expect(ago(2)).toBe("2 s ago");
    expect(ago(7200)).toBe("2 h ago");
    expect(ago(-5)).toBe("0 s ago");
  });
});
