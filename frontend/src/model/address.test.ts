import { describe, expect, it } from "vitest";
import { type Address, formatAddress, isOurs, parseAddress } from "./address";

describe("address", () => {
  it.each<Address>([
    {},
    { run: "vit/run 1 & more=2#,ü" },
    { run: "a", view: { from: 10, to: 200 }, selection: { from: 50, to: 51 } },
    { run: "a", trace: { id: "a b/2026_11_21", host: "vm-1", at: { from: 3, to: 5 } } },
    { run: "a", trace: { id: "c" } },
    { run: "a", show: ["time", "lost", "lanes", "table", "count"] },
    { run: "a", selection: { from: 8, to: 90 }, since: 8, layers: ["retracing", "unexplained"] },
    { run: "a", open: ["retracing", "-warm_up"], compare: ["b", "c,d"] },
  ])("survives a round trip: %j", (address) => {
    expect(parseAddress(formatAddress(address))).toEqual(address);
  });

  it("has TensorBoard's form", () => {
    expect(formatAddress({ run: "run1", view: { from: 0, to: 100 } })).toBe(
      "#slowdown&p.slowdown.run=run1&p.slowdown.rows=0-99",
    );
  });

  it("leaves out what cannot be understood", () => {
    expect(
      parseAddress("#slowdown&p.slowdown.rows=9-3&p.other.run=x&junk&p.slowdown.selection=a-b"),
    ).toEqual({});
    expect(parseAddress("#slowdown&p.slowdown.run=%E0%A4%A")).toEqual({ run: "%E0%A4%A" });
    expect(parseAddress("#slowdown&p.slowdown.show=sideways")).toEqual({});
    expect(parseAddress("#slowdown&p.slowdown.since=-3&p.slowdown.layers=")).toEqual({});
  });

  it("knows its own tab", () => {
    expect(isOurs("#slowdown&p.slowdown.run=a")).toBe(true);
    expect(isOurs("")).toBe(true);
    expect(isOurs("#scalars")).toBe(false);
    expect(isOurs("#slowdowns")).toBe(false);
  });
});
