/** Paints where steps are in no record: a hatched band through all rows, with how many. */

import { gapText } from "../../../model/timeline/gap_text";
import { placeLabels } from "../../canvas/labels";
import { haloed, type Painting } from "./painting";

const BAND = 7;
const HATCH = 5;

export function paintGaps({ context, theme, scene, projection, layout }: Painting): void {
  const axis = layout.rows.find((row) => row.kind === "axis");
  const time = layout.rows.find((row) => row.kind === "time");
  const first = layout.rows[0];
  if (axis === undefined || time === undefined || first === undefined) return;
  const gaps = scene.timeline.gaps
    .map((gap) => ({ gap, x: Math.round(projection.x(gap.row)) }))
    .filter(({ x }) => x >= 0 && x <= projection.width);
  for (const { x } of gaps) {
    const left = x - Math.floor(BAND / 2);
    context.save();
    context.beginPath();
    context.rect(left, first.top, BAND, axis.top - first.top);
    context.clip();
    context.fillStyle = theme.colour("bg");
    context.fillRect(left, first.top, BAND, axis.top - first.top);
    context.strokeStyle = theme.colour("text-2");
    context.lineWidth = 1;
    context.beginPath();
    for (let y = first.top; y < axis.top + BAND; y += HATCH) {
      context.moveTo(left, y);
      context.lineTo(left + BAND, y - BAND);
    }
    context.stroke();
    context.restore();
  }
  context.textAlign = "left";
  const texts = gaps.map(({ gap }) => gapText(gap));
  const labels = gaps.map(({ x }, index) => ({
    x: x + BAND,
    width: context.measureText(texts[index] as string).width,
  }));
  for (const { label, left, line } of placeLabels(labels, projection.width)) {
    if (line > 0) continue; // the band is there, and its bucket's tooltip says the rest
    haloed(context, theme, texts[label] as string, left, time.top + 16);
  }
}
