/** Does memory grow? */

import { html, type TemplateResult } from "lit-html";
import { whyNot } from "../../model/run/measurement_summary";
import "../../charts/memory_chart";
import type { RunReport } from "../../api/wire/report";
import type { Timeline } from "../../api/wire/timeline";
import { bytes } from "../../base/format";
import { collectorTitle } from "../../catalog/collectors";
import { drawn, type MemorySeries, memoryReading, memorySeries } from "../../model/run/memory";
import { stepOfRow, trackOf } from "../../model/timeline/track";
import type { Content } from "../contract";
import { prose } from "../pieces";

interface Memory {
  readonly report: RunReport;
  readonly timeline: Timeline;
}

export const memory: Content<Memory> = {
  load: async (source) => {
    const [report, timeline] = await Promise.all([source.report(), source.timeline()]);
    return { report, timeline };
  },
  view: ({ report, timeline }) => {
    const series = memorySeries(timeline);
    const missing = report.signals.filter(
      (state) => /memory|allocator/.test(state.signal) && !/measured|partly/.test(state.status),
    );
    const why = missing.map(
      (state) =>
        html`<p class="q more">${collectorTitle(state.signal)}: not measured, ${prose(whyNot(state))}</p>`,
    );
    if (series.length === 0) {
      return { body: html`<p class="empty">No memory numbers were recorded.</p>${why}` };
    }
    return {
      note: noteOf(series),
      body: html`${chart(drawn(series), timeline)}${table(series)}${why}`,
    };
  },
};

function noteOf(series: readonly MemorySeries[]): string {
  const growing = series
    .filter((one) => one.role === "use" && (one.growth ?? 0) > 0)
    .map((one) => one.title);
  return growing.length === 0
    ? "nothing grows steadily"
    : `${growing.join(", ")} ${growing.length === 1 ? "grows" : "grow"}`;
}

function chart(series: readonly MemorySeries[], timeline: Timeline): TemplateResult {
  const track = trackOf(timeline);
  const input = { series, rows: timeline.rows, stepOf: (row: number) => stepOfRow(track, row) };
  const said = series.map((one) => `${one.title} from ${bytes(one.early)} to ${bytes(one.end)}`);
  return html`<sd-memory class="mem" role="img" aria-label=${said.join("; ")} .input=${input}></sd-memory>`;
}

const table = (
  series: readonly MemorySeries[],
): TemplateResult => html`<div class="scroll" tabindex="0" role="group" aria-label="Memory as a table"><table>
  <thead><tr><th>Series</th><th class="num">After the start</th><th class="num">At the end</th><th class="num">Peak</th><th>Reading</th></tr></thead>
  <tbody>${series.map(
    (one) =>
      html`<tr><td>${one.title}</td><td class="num">${bytes(one.early)}</td><td class="num">${bytes(one.end)}</td><td class="num">${bytes(one.peak)}</td><td class=${(one.growth ?? 0) > 0 ? "" : "q"}>${memoryReading(one)}</td></tr>`,
  )}</tbody></table></div>`;
