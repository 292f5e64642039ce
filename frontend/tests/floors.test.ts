/** Who may import whom: main > page > panels > charts > model > base, with the wire types at hand. */

import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, it } from "vitest";

const SOURCE = join(import.meta.dirname, "..", "src");

/** Floor -> what it may import: floors (also themselves), single modules, packages. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  base: ["base"],
  api: ["api", "base"],
  model: ["model", "base", "api/wire"],
  charts: ["charts", "model", "base", "api/wire", "lit-html"],
  panels: ["charts", "model", "base", "api/wire", "panels/panel", "panels/parts", "lit-html"],
  "panels/index": ["panels"],
  page: ["page", "panels", "charts", "model", "base", "api", "lit-html"],
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

const floorOf = (path: string): string => {
  const name = path.replaceAll("\\", "/").replace(/\.ts$/, "");
  return name in ALLOWED ? name : (name.split("/")[0] ?? name);
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
