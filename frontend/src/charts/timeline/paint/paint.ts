/** Paints the timeline's canvas, row by row. */

import { count } from "../../../base/format";
import { axisTicks } from "../../../model/timeline/scene";
import { rowOfKind } from "../rows";
import { paintChanges } from "./paint_changes";
import { paintGaps } from "./paint_gaps";
import { paintNotes } from "./paint_notes";
import { paintCaptures, paintLane, paintMarks, paintReason, paintTime } from "./paint_rows";
import { paintHighest, paintStack } from "./paint_stack";
import type { Painting } from "./painting";

export function paint(painting: Painting): void {
  const { context, layout, projection, theme } = painting;
  context.clearRect(0, 0, projection.width, layout.height);
  context.font = theme.font();
  context.textBaseline = "alphabetic";
  for (const row of layout.rows) {
    if (row.kind === "unmeasured") {
      context.fillStyle = theme.colour("bg-2");
      context.fillRect(0, row.top, projection.width, row.height);
    }
  }
  paintEpochs(painting);
  paintAxis(painting);
  context.fillStyle = theme.colour("line");
  for (const row of layout.rows) {
    context.fillRect(0, row.top + row.height - 1, projection.width, 1);
  }
  for (const row of layout.rows) {
    if (row.kind === "stack") paintStack(painting, row);
    else if (row.kind === "time") paintTime(painting, row);
    else if (row.kind === "lane") paintLane(painting, row);
    else if (row.mark === "captures") paintCaptures(painting, row);
    else if (row.kind === "marks") paintMarks(painting, row);
    else if (row.kind === "unmeasured") paintReason(painting, row);
  }
  paintNotes(painting);
  paintGaps(painting);
  paintChanges(painting);
  paintHighest(painting, rowOfKind(layout, "stack"));
}

function paintEpochs({ context, theme, scene, projection, layout }: Painting): void {
  const band = layout.rows.find((row) => row.kind === "epochs");
  if (band === undefined) return;
  const { epochs } = scene.timeline;
  let labelEnd = Number.NEGATIVE_INFINITY;
  epochs.forEach((epoch, index) => {
    const left = projection.x(epoch.row);
    const next = epochs[index + 1];
    const right =
      next === undefined ? projection.x(scene.timeline.last + 1) : projection.x(next.row);
    if (right < 0 || left > projection.width) return;
    const [x0, x1] = [Math.max(0, left), Math.min(projection.width, right)];
    if (epoch.number % 2 === 1) {
      context.fillStyle = theme.colour("bg-2");
      context.fillRect(x0, band.top, x1 - x0, band.height - 1);
    }
    if (left >= 0 && x1 - x0 >= 6) {
      context.fillStyle = theme.colour("line");
      context.fillRect(Math.round(left), 0, 1, layout.height);
    }
    const text = count(epoch.number + 1);
    const middle = (x0 + x1) / 2;
    const half = context.measureText(text).width / 2;
    if (x1 - x0 < half * 2 + 6 || middle - half < labelEnd + 6) return;
    context.fillStyle = theme.colour("text-2");
    context.textAlign = "center";
    context.fillText(text, middle, band.top + 18);
    labelEnd = middle + half;
  });
}

function paintAxis({ context, theme, projection, layout, start }: Painting): void {
  const row = layout.rows.find((one) => one.kind === "axis");
  if (row === undefined) return;
  for (const { x, text } of axisTicks(projection, start)) {
    context.fillStyle = theme.colour("line");
    context.fillRect(Math.round(x), row.top, 1, 6);
    context.fillStyle = theme.colour("text-2");
    const half = context.measureText(text).width / 2;
    context.textAlign = "center";
    const middle = Math.min(projection.width - half, Math.max(half, x));
    context.fillText(text, middle, row.top + 18);
  }
}
