import { describe, expect, it } from "vitest";
import { memorySignal as signal, timeline } from "../../../tests/make";
import { memoryReading, memorySeries } from "./memory";

describe("memory", () => {
  const row = Array.from({ length: 100 }, (_, index) => index);
  const series = (value: (row: number) => number | null) =>
    memorySeries(timeline(100, 1, { signals: [{ ...signal, row, value: row.map(value) }] }))[0];

  it("tells steady growth from a level and from a jump", () => {
    const grows = series((one) => 2 ** 30 + one * 2 ** 20);
    expect(grows?.growth).toBeCloseTo(2 ** 20, 3);
    expect(grows && memoryReading(grows)).toBe("steady growth, 100 MiB per 100 steps");
    expect(series(() => 5e8)?.growth).toBe(0);
    expect(series((one) => (one < 80 ? 1e8 : 9e8))?.growth).toBeNull();
  });

  it("calls nothing growth that ends below where it began", () => {
    const falls = series((one) => (one < 99 ? 2 ** 30 + one * 2 ** 20 : 2 ** 20));
    expect(falls?.growth).toBeNull();
    expect(falls && memoryReading(falls)).toBe("falls");
  });

  it("leaves out what lies on disks", () => {
    const signals = [signal, { ...signal, signal: "disk_free_bytes" }];
    expect(memorySeries(timeline(100, 1, { signals })).map((one) => one.id)).toEqual(["rss_bytes"]);
  });

  it("leaves out what was zero all along", () => {
    expect(series(() => 0)).toBeUndefined();
  });

  it("says nothing of a handful of values", () => {
    expect(series((one) => (one < 12 ? 1e8 : null))?.growth).toBeNull();
  });
});
