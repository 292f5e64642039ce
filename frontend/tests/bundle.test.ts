/** What is shipped: small, alone, and asking nobody else. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";

const bundle = readFileSync(
  join(import.meta.dirname, "..", "..", "tb_slowdown_plugin", "static", "index.js"),
);
const text = bundle.toString("utf8");

/** Of all that a page loads; TensorBoard's own is some megabytes. */
const BUDGET_BYTES = 61_440;

describe("the committed bundle", () => {
  it("stays within the budget", () => {
    expect(gzipSync(bundle, { level: 9 }).length).toBeLessThanOrEqual(BUDGET_BYTES);
  });

  it("is one module that exports render and imports nothing", () => {
    expect(text).toMatch(/export\s*\{[^}]*\bas render\b[^}]*\}/);
    expect(text).not.toMatch(/\bimport\s*[("']|\bfrom\s*["']/);
  });

  it("has no worker, no evaluation and no address of another origin", () => {
    expect(text).not.toMatch(/new Worker|new Function|\beval\(/);
    const addresses = [...text.matchAll(/https?:\/\/[^"'`\s)]+/g)].map(([address]) => address);
    expect(addresses).toEqual([]);
  });
});
