/** Paints the notes of the program: a flag at each step, its text where it finds a place. */

import { placeLabels } from "../../canvas/labels";
import type { Painting } from "./painting";

export function paintNotes({ context, theme, scene, projection, layout }: Painting): void {
  const row = layout.rows.find(({ kind }) => kind === "notes");
  const time = layout.rows.find(({ kind }) => kind === "time");
  if (row === undefined || time === undefined) return;
  const seen = scene.timeline.annotations
    .map(({ row: at, text }) => ({ text, x: Math.round(projection.x(at + 0.5)) }))
    .filter(({ x }) => x >= 0 && x <= projection.width);
  context.save();
  context.fillStyle = theme.colour("accent");
  for (const { x } of seen) {
    context.globalAlpha = 0.5;
    context.fillRect(x, row.top + 4, 1, time.top + time.height - row.top - 4);
    context.globalAlpha = 1;
    context.beginPath();
    context.moveTo(x, row.top + 4);
    context.lineTo(x + 8, row.top + 8);
    context.lineTo(x, row.top + 12);
    context.fill();
  }
  context.restore();
  context.fillStyle = theme.colour("text");
  context.textAlign = "left";
  const labels = seen.map(({ x, text }) => ({ x, width: context.measureText(text).width }));
  for (const { label, left, line } of placeLabels(labels, projection.width)) {
    // One line: what finds no place there is in the tooltip.
    if (line === 0) context.fillText(seen[label]?.text ?? "", left + 2, row.top + 15);
  }
}
