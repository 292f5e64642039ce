/** Paints the rows below the stack: step time, tick rows, lanes, and what was not measured. */

import { count } from "../../../base/format";
import { causeKind } from "../../../catalog/causes";
import { MARKS } from "../../../model/timeline/scene";
import {
  type Box,
  linear,
  logarithmic,
  stretches,
  traceBand,
  traceLine,
  traceSteps,
} from "../../canvas/lines";
import type { Row } from "../rows";
import type { Painting } from "./painting";

/** Median of the steps of a bucket, in the band from the fastest to the slowest. */
export function paintTime({ context, theme, scene, projection }: Painting, row: Row): void {
  const { low, high } = scene.log;
  const box = { left: 0, top: row.top, width: projection.width, height: row.height - 1 };
  const y = logarithmic(low, high, box);
  const borders = scene.track.rows.map((one) => projection.x(one));
  const { min, max, median } = scene.timeline.step_seconds;
  clip(context, box, () => {
    context.beginPath();
    traceBand(context, borders, min, max, y);
    context.fillStyle = theme.colour("bg-3");
    context.fill();
    context.beginPath();
    traceSteps(context, borders, max, y);
    context.strokeStyle = theme.colour("line-strong");
    context.lineWidth = 0.75;
    context.stroke();
    context.beginPath();
    traceSteps(context, borders, median, y);
    context.strokeStyle = theme.colour("text");
    context.lineWidth = 1.5;
    context.stroke();
  });
}

/** One signal in neutral ink: a lane shows a measurement, not a verdict. */
export function paintLane({ context, theme, scene, projection }: Painting, row: Row): void {
  const lane = scene.lanes.find((one) => one.id === row.lane?.id);
  if (lane === undefined || row.lane === undefined) return;
  const box = { left: 0, top: row.top, width: projection.width, height: row.height - 1 };
  const room = { ...box, top: row.top + 5, height: row.height - 6 };
  const y = linear(lane.low, lane.high, room);
  const xs = lane.row.map((one) => projection.x(one + (lane.stepped ? 0 : 0.5)));
  const floor = y(Math.max(0, lane.low));
  const borders = [...xs, projection.x(scene.timeline.last + 1)];
  const gaps: number[] = [];
  clip(context, box, () => {
    context.fillStyle = theme.colour("bg-2");
    for (const [first, last] of stretches(lane.value.map((one) => (one === null ? 0 : null)))) {
      const left = first === 0 ? 0 : (xs[lane.stepped ? first : first - 1] as number);
      const right = xs[last + 1] ?? projection.width;
      context.fillRect(left, row.top, right - left, row.height - 1);
      if (right - left > GAP_LABEL_PIXELS) gaps.push((left + right) / 2);
    }
    context.beginPath();
    if (lane.stepped) traceSteps(context, borders, lane.value, y, floor);
    else traceLine(context, xs, lane.value, y, floor);
    context.fillStyle = theme.colour("bg-3");
    context.fill();
    context.beginPath();
    if (lane.stepped) traceSteps(context, borders, lane.value, y);
    else traceLine(context, xs, lane.value, y);
    context.strokeStyle = theme.colour("text-2");
    context.lineWidth = 1.25;
    context.stroke();
    context.fillStyle = theme.colour("text-2");
    context.textAlign = "center";
    for (const [index, value] of lane.value.entries()) {
      if (value !== null && value > lane.high) context.fillText("▴", xs[index] ?? 0, row.top + 9);
    }
    for (const middle of gaps)
      context.fillText("not measured", middle, row.top + row.height / 2 + 4);
  });
}

/** A gap at least so wide says what it is. */
const GAP_LABEL_PIXELS = 90;

/** One tick a mark, as tall as its seconds against the longest in view. */
export function paintMarks({ context, theme, scene, projection }: Painting, row: Row): void {
  const marks = scene.timeline.marks[row.mark ?? "gc"] ?? [];
  const longest = marks.reduce((most, mark) => Math.max(most, mark.seconds), 0);
  const cause = MARKS.find((one) => one.kind === row.mark)?.cause ?? "";
  context.fillStyle = theme.colour(`f-${causeKind(cause).family}`);
  for (const mark of marks) {
    const x = projection.x(mark.row + 0.5);
    if (x < -4 || x > projection.width + 4) continue;
    const share = longest > 0 ? mark.seconds / longest : 1;
    const tall = Math.max(3, share * (row.height - 7));
    const bottom = row.top + row.height - 4;
    const wide = Math.min(2, Math.max(1, projection.width / 600));
    context.fillRect(x - wide / 2, bottom - tall, wide, tall);
  }
}

/** A box over the steps of each capture, wide enough for a pointer, and its first step. */
export function paintCaptures({ context, theme, projection, captures }: Painting, row: Row): void {
  context.strokeStyle = theme.colour("accent");
  context.textAlign = "left";
  context.lineWidth = 2;
  let labelled = Number.NEGATIVE_INFINITY;
  for (const { from, to, step, isOpen } of captures) {
    const left = Math.max(-9, projection.x(from));
    const right = Math.max(left + 6, Math.min(projection.width + 9, projection.x(to)));
    if (right < 0 || left > projection.width) continue;
    const box = [Math.round(left), row.top + 4, right - left, row.height - 9] as const;
    context.fillStyle = theme.colour("accent");
    if (isOpen) context.fillRect(...box);
    context.strokeRect(...box);
    context.fillStyle = theme.colour("text");
    const text = count(step);
    const width = context.measureText(text).width;
    const at = right + 5 + width > projection.width ? left - 5 - width : right + 5;
    if (at < labelled + 6) continue;
    labelled = at + width;
    context.fillText(text, at, row.top + 16);
  }
  context.lineWidth = 1;
}

/** A reason that says so itself is not said twice; a canvas has no code between backticks. */
export const notMeasured = (reason: string | undefined): string =>
  `not measured${reason ? `: ${reason.replace(/^not measured(?: here, because|:)? /, "")}` : ""}`.replaceAll(
    "`",
    "",
  );

export function paintReason({ context, theme }: Painting, row: Row): void {
  context.fillStyle = theme.colour("text-2");
  context.textAlign = "left";
  context.fillText(notMeasured(row.reason), 12, row.top + 18);
}

function clip(context: CanvasRenderingContext2D, box: Box, draw: () => void): void {
  context.save();
  context.beginPath();
  context.rect(box.left, box.top, box.width, box.height);
  context.clip();
  draw();
  context.restore();
}
