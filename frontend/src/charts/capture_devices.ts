/** Steps, devices and copies of a capture, drawn without XProf. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Capture, CopyDirection, DeviceShare, StepPart } from "../api/wire/captures";
import { bytes, count, percent, plural, stepTime } from "../base/format";
import { PART_NAMES, PARTS } from "../model/captures";

const MOST_STEPS = 60;
const MOST_DEVICES = 64;

const HUES: Readonly<Record<StepPart, string>> = {
  device: "f-warmup",
  communication: "f-model",
  tracing: "f-compile",
  compilation: "f-compile",
  input: "f-data",
  copies: "f-saving",
  compute: "f-memory",
  rest: "idle",
};

const WAYS: Readonly<Record<CopyDirection, string>> = {
  host_to_device: "to devices",
  device_to_host: "to the host",
  within_device: "within a device",
};

/** One column a step, as high as it is long, in its parts; a click looks at it. */
export function drawSteps(capture: Capture, look: (place: number) => void): TemplateResult {
  const { seconds, parts, place, number } = capture.steps;
  if (seconds.length < 2) return html``;
  const shown = seconds.slice(0, MOST_STEPS);
  const longest = Math.max(...shown, 1e-12);
  const used = PARTS.filter((part) => shown.some((_, step) => (parts[part][step] ?? 0) > 0));
  const [first, last] = capture.chosen ?? [-1, -1];
  return html`<h4>Steps <span class="q">${
    seconds.length > shown.length ? `the first ${count(shown.length)}; ` : ""
  }the longest takes ${stepTime(longest)}</span></h4>
    ${legend(used.map((part) => [HUES[part], PART_NAMES[part]]))}
    <div class="cap-steps" role="group" aria-label="Steps of the capture">${shown.map(
      (length, step) => {
        const at = place[step];
        const title = `Step ${count(number[step] ?? step)}: ${stepTime(length)}`;
        return html`<button class=${step >= first && step <= last ? "on" : ""} title=${title}
          aria-label=${title} ?disabled=${typeof at !== "number"}
          style=${`height:${((100 * length) / longest).toFixed(1)}%`}
          @click=${() => typeof at === "number" && look(at)}>${used.map((part) =>
            piece(HUES[part], (parts[part][step] ?? 0) / length, "height"),
          )}</button>`;
      },
    )}</div>`;
}

/** One row a device: what it does in a step, and what it waits for. */
export function drawDevices(capture: Capture): TemplateResult {
  const { shares, devices } = capture;
  if (shares.length === 0) return html``;
  const quiet = devices.length - shares.length;
  const shown = shares.slice(0, MOST_DEVICES);
  return html`<h4>Devices <span class="q">share of step time in which they work${
    quiet > 0 ? `; ${plural(quiet, "other device")} did nothing` : ""
  }</span></h4>
    ${legend([
      ["f-warmup", "Computes"],
      ["f-model", "Waits for other devices"],
      ["f-saving", "Waits for copies"],
      ["idle", "Waits for the host"],
    ])}
    <div class="scroll" tabindex="0" role="group" aria-label="Devices"><table class="cap-devices">
      <thead><tr><th>Device</th><td class="c30"></td><th class="num">Computes</th><th class="num">Others</th><th class="num">Copies</th><th class="num">Host</th></tr></thead>
      <tbody>${shown.map(device)}</tbody>
    </table></div>
    ${
      shares.length > shown.length
        ? html`<p class="q">${plural(shares.length - shown.length, "more device")}</p>`
        : nothing
    }
    ${copies(capture)}`;
}

function device(share: DeviceShare): TemplateResult {
  const of = (seconds: number): number => (share.seconds > 0 ? seconds / share.seconds : 0);
  const computes = of(share.computes_seconds);
  const others = of(share.communicates_seconds);
  const copying = of(share.copies_seconds);
  const host = Math.max(0, 1 - computes - others - copying);
  return html`<tr><td class="nw">${share.name.replace("/device:", "")}</td>
    <td><span class="cap-bar">${piece("f-warmup", computes, "width")}${piece("f-model", others, "width")}${piece("f-saving", copying, "width")}</span></td>
    ${[computes, others, copying, host].map((one) => html`<td class="num">${percent(one)}</td>`)}</tr>`;
}

function copies({ copied }: Capture): TemplateResult {
  const told = (Object.keys(WAYS) as CopyDirection[]).flatMap((way) => {
    const found = copied[way];
    if (found === undefined) return [];
    const size = found.bytes === null ? "" : ` (${bytes(found.bytes)})`;
    return [`${count(found.calls)} ${WAYS[way]} in ${stepTime(found.seconds)}${size}`];
  });
  return html`<p>Copies in the whole capture: ${told.length === 0 ? "none" : told.join("; ")}.</p>`;
}

const piece = (hue: string, share: number, side: "height" | "width"): TemplateResult =>
  html`<i class=${hue} style=${`${side}:${(100 * share).toFixed(2)}%`}></i>`;

const legend = (entries: readonly (readonly [string, string])[]): TemplateResult =>
  html`<p class="cap-legend">${entries.map(
    ([hue, name]) => html`<span><i class=${hue}></i>${name}</span>`,
  )}</p>`;
