import { render, type TemplateResult } from "lit-html";
import { expect, test } from "vitest";
import type { Capture, DeviceShare } from "../api/wire/captures";
import { drawDevices, drawSteps } from "./capture_devices";

const share = (name: string, computes: number, others = 0, copies = 0): DeviceShare => ({
  name,
  steps: 2,
  seconds: 1,
  computes_seconds: computes,
  communicates_seconds: others,
  copies_seconds: copies,
  hidden_seconds: 0,
});

const none = [0, 0];
const capture: Capture = {
  id: "run1/a",
  session: "a",
  host: "vm",
  hosts: ["vm"],
  devices: ["/device:GPU:0", "/device:GPU:1", "/device:GPU:2"],
  events: 9,
  steps: {
    by: "step_num",
    count: 2,
    number: [7, 8],
    row: [3, null],
    place: [3, null],
    begin_seconds: [0, 0.01],
    seconds: [0.01, 0.02],
    parts: {
      device: [0.004, 0.004],
      communication: none,
      tracing: none,
      compilation: none,
      input: [0, 0.01],
      copies: none,
      compute: none,
      rest: [0.006, 0.006],
    },
  },
  chosen: [0, 0],
  items: [],
  shares: [share("/device:GPU:0", 0.5, 0.25, 0.05), share("/device:GPU:1", 0.4)],
  copied: {
    host_to_device: { calls: 202, seconds: 0.00039, bytes: 81118 },
    within_device: { calls: 1, seconds: 0.001, bytes: null },
  },
  adds: [],
  notes: [],
};

function drawn(template: TemplateResult): HTMLElement {
  const place = document.createElement("div");
  render(template, place);
  return place;
}

test("each step is a column as high as it is long, in its parts", () => {
  const looked: number[] = [];
  const found = drawn(drawSteps(capture, (place) => looked.push(place)));
  const columns = [...found.querySelectorAll<HTMLButtonElement>(".cap-steps button")];
  expect(columns.map((one) => one.style.height)).toEqual(["50.0%", "100.0%"]);
  expect(columns.map((one) => one.title)).toEqual(["Step 7: 10.0 ms", "Step 8: 20.0 ms"]);
  expect(columns.map((one) => one.className)).toEqual(["on", ""]);
  const heights = [...(columns[1]?.querySelectorAll("i") ?? [])].map((one) => one.style.height);
  expect(heights).toEqual(["20.00%", "50.00%", "30.00%"]);
  for (const column of columns) column.click();
  expect(looked).toEqual([3]); // the record ends before the other
  expect(found.querySelector(".cap-legend")?.textContent).toContain("Input wait");
});

test("a capture that is one step has no columns", () => {
  const steps = { ...capture.steps, seconds: [0.1] };
  expect(drawn(drawSteps({ ...capture, steps }, () => undefined)).textContent).toBe("");
});

test("each device that works is a row whose shares sum up to all of a step", () => {
  const found = drawn(drawDevices(capture));
  const rows = [...found.querySelectorAll("tbody tr")].map((row) =>
    [...row.querySelectorAll("td")].map((cell) => cell.textContent?.trim()),
  );
  expect(rows[0]).toEqual(["GPU:0", "", "50.0%", "25.0%", "5.0%", "20.0%"]);
  expect(rows[1]).toEqual(["GPU:1", "", "40.0%", "0.0%", "0.0%", "60.0%"]);
  expect(found.textContent).toContain("1 other device did nothing");
  expect(found.textContent).toMatch(
    /202 to devices in 0.39 ms \(79.2 KiB\); 1 within a device in 1.00 ms\./,
  );
});

test("without devices nothing is drawn", () => {
  expect(drawn(drawDevices({ ...capture, shares: [] })).textContent).toBe("");
});
