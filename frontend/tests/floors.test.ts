/** Who may import whom: main > page > panels > charts > model > base, with the wire types at hand. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = join(import.meta.dirname, "..", "src");

/** Floor -> what it may import: floors (also themselves), single modules, packages. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: ["base"],
  catalog: ["catalog"],
  "api/wire": ["api/wire", "base"],
  api: ["api", "base"],
  "model/timeline": ["model/timeline", "catalog", "base", "api/wire"],
  "model/changes": ["model/changes", "model/timeline", "base", "api/wire"],
  "model/run": ["model/run", "model/timeline", "catalog", "base", "api/wire"],
  model: ["model", "catalog", "base", "api/wire"],
  "charts/canvas": ["charts/canvas", "catalog", "base"],
  "charts/timeline/paint": [
    "charts/timeline/paint",
    "charts/timeline/rows",
    "charts/canvas",
    "model",
    "catalog",
    "base",
  ],
  "charts/timeline": [
    "charts/timeline",
    "charts/canvas",
    "charts/badge",
    "model",
    "catalog",
    "base",
    "api/wire",
    "lit-html",
  ],
  charts: ["charts", "model", "catalog", "base", "api/wire", "lit-html"],
  "panels/contract": ["model", "api/wire", "lit-html"],
  "panels/pieces": ["charts/term_title", "model", "api/wire", "base", "lit-html"],
  panels: [
    "panels/contract",
    "panels/later",
    "panels/pieces",
    "charts",
    "model",
    "catalog",
    "base",
    "api/wire",
    "lit-html",
  ],
  "panels/index": ["panels"],
  "panels/later": ["panels/contract", "panels/below"],
  "panels/below": ["panels", "charts"],
  "page/state": ["page/state", "panels/contract", "model", "api/wire"],
  "page/data": ["page/data", "page/state", "panels", "model", "base", "api"],
  page: ["page", "panels", "charts", "model", "catalog", "base", "api", "lit-html"],
  styles: ["styles"],
  main: ["page", "api", "styles", "lit-html"],
};

const modules = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter(
  (path) => path.endsWith(".ts") && !path.endsWith(".test.ts"),
);

function importsOf(path: string): string[] {
  const text = readFileSync(join(SOURCE, path), "utf8");
  return [...text.matchAll(/(?:from|import)\s+"([^"]+)"/g)].map(([, target = ""]) =>
    target.startsWith(".")
      ? normalize(relative(SOURCE, join(SOURCE, dirname(path), target))).replaceAll("\\", "/")
      : target,
  );
}

/** The entry with the longest path that holds a module. */
const floorOf = (path: string): string => {
  const name = path.replaceAll("\\", "/").replace(/\.ts$/, "");
  const holds = (one: string): boolean => name === one || name.startsWith(`${one}/`);
  const found = Object.keys(ALLOWED).filter(holds);
  return found.sort((one, other) => other.length - one.length)[0] ?? name;
};

describe("imports", () => {
  it("finds the modules", () => {
    expect(modules.length).toBeGreaterThan(30);
    expect(importsOf("main.ts")).toContain("page/app");
  });

  it.each(modules)("%s stays on its floor", (path) => {
    const allowed = ALLOWED[floorOf(path)] ?? [];
    const strange = importsOf(path).filter(
      (target) => !allowed.some((one) => target === one || target.startsWith(`${one}/`)),
    );
    expect(strange).toEqual([]);
  });
});
