/** What is shipped: small, alone, and asking nobody else. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const STATIC = join(import.meta.dirname, "..", "..", "tb_slowdown_plugin", "static");

const bundle = (name: string): string => readFileSync(join(STATIC, name), "utf8");
const gzipped = (name: string): number => gzipSync(bundle(name), { level: 9 }).length;

/** Of what the first screen needs; TensorBoard's own is some megabytes. */
const FIRST_BYTES = 61_440;
/** Of the panels below it. */
const BELOW_BYTES = 30_720;
/** Of all that a page ever loads, and of what stands in a report in one file. */
const ALL_BYTES = 81_920;

/** What a module imports, at once or later. */
const imports = (text: string): string[] => [
  ...new Set(
    [...text.matchAll(/\b(?:import\s*\(?|from)\s*["'`]([^"'`]+)["'`]/g)].map(
      ([, name = ""]) => name,
    ),
  ),
];

describe("the committed bundles", () => {
  it("are these three", () => {
    expect(readdirSync(STATIC).sort()).toEqual(["below.js", "index.js", "report.js"]);
  });

  it("stay within their budgets, each and together", () => {
    expect(gzipped("index.js")).toBeLessThanOrEqual(FIRST_BYTES);
    expect(gzipped("below.js")).toBeLessThanOrEqual(BELOW_BYTES);
    expect(gzipped("index.js") + gzipped("below.js")).toBeLessThanOrEqual(ALL_BYTES);
    expect(gzipped("report.js")).toBeLessThanOrEqual(ALL_BYTES);
  });

  it("import each other and nothing else", () => {
    expect(imports(bundle("index.js"))).toEqual(["./below.js"]);
    expect(imports(bundle("below.js"))).toEqual(["./index.js"]);
    expect(imports(bundle("report.js"))).toEqual([]);
  });

  it("fetch the second one only when asked", () => {
    expect(bundle("index.js")).toMatch(/\bimport\(\s*["'`]\.\/below\.js["'`]\s*\)/);
  });

  it.each(["index.js", "report.js"])("%s exports render", (name) => {
    expect(bundle(name)).toMatch(/export\s*\{[^}]*\bas render\b[^}]*\}/);
  });

  it.each(["index.js", "below.js", "report.js"])(
    "%s has no worker, no evaluation and no address of another origin",
    (name) => {
      const text = bundle(name);
      expect(text).not.toMatch(/new Worker|new Function|\beval\(/);
      const addresses = [...text.matchAll(/https?:\/\/[^"'`\s)]+/g)].map(([address]) => address);
      // The name of the language of a saved picture, which nobody asks for.
      expect(addresses.filter((one) => one !== "http://www.w3.org/2000/svg")).toEqual([]);
    },
  );
});
