import { render } from "lit-html";
import { describe, expect, it } from "vitest";
import { report } from "../../../tests/make";
import type { PythonLine, PythonLines } from "../../api/wire/report";
import type { Page } from "../contract";
import { python } from "./python";

const line = (values: Partial<PythonLine>): PythonLine => ({
  place: "total (train.py:8)",
  location: "train.py:8",
  before_fraction: 0.1,
  after_fraction: 0.7,
  before_seconds: 0.001,
  after_seconds: 0.035,
  ...values,
});

function shown(values: Partial<PythonLines>): { note: string; root: HTMLElement } {
  const found: PythonLines = {
    before_steps: [0, 100],
    before_samples: 60,
    after_steps: [101, 599],
    after_samples: 60,
    lines: [line({})],
    ...values,
  };
  const { note, body } = python.view(report({ python: found }), {} as Page);
  const root = document.createElement("div");
  render(body, root);
  return { note: String(note), root };
}

const cells = (root: HTMLElement): string[] =>
  [...root.querySelectorAll("tbody td")].map(
    (cell) => cell.textContent?.replace(/\s+/g, " ").trim() ?? "",
  );

describe("Python lines", () => {
  it("show share, seconds and growth of each line", () => {
    const { note, root } = shown({});
    expect(note).toBe(
      "where the training thread was: 60 samples in steps 0–100, 60 samples in steps 101–599",
    );
    expect(cells(root)).toEqual([
      "total (train.py:8)",
      "10.0%1.00 ms",
      "70.0%35.0 ms",
      "",
      "+34.0 ms",
      "Copy train.py:8",
    ]);
    expect(root.querySelector<HTMLElement>(".is i")?.style.width).toBe("100.0%");
    expect(root.querySelector<HTMLElement>(".was i")?.style.width).toBe("2.9%");
  });

  it("claim no growth of one set of samples, and copy no place that is none", () => {
    const { root } = shown({
      before_steps: null,
      lines: [line({ before_fraction: null, before_seconds: null, location: "" })],
    });
    expect(cells(root)).toEqual(["total (train.py:8)", "70.0%35.0 ms", "", ""]);
    expect(root.querySelector("button")).toBeNull();
  });
});
