/** Is it my code: the lines that a step spends its time in, in the first samples and in the newest. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { PythonLine, RunReport } from "../../api/wire/report";
import { count, MISSING, percent, plural, range, signed, stepTime } from "../../base/format";
import type { Content } from "../contract";
import { copy, prose } from "../pieces";

export const python: Content<RunReport> = {
  load: (source) => source.report(),
  view: ({ python: found }) => {
    if (!found) return { body: html`<p class="empty">No line of the program was sampled.</p>` };
    const { before_steps: before, after_steps: after } = found;
    const most = Math.max(
      ...found.lines.flatMap((line) => [line.before_seconds ?? 0, line.after_seconds]),
      1e-9,
    );
    return {
      note: `where the training thread was: ${before ? `${count(found.before_samples)} samples in steps ${range(...before)}, ` : ""}${plural(found.after_samples, "sample")} in steps ${range(...after)}`,
      body: html`<div class="scroll"><table>
        <thead><tr><th>Line</th>${before ? html`<th class="num">At the start</th>` : nothing}<th class="num">${before ? "At the end" : "Share"}</th><th class="bars">Of a step</th>${before ? html`<th class="num">Growth per step</th>` : nothing}<td></td></tr></thead>
        <tbody>${found.lines.map((line) => row(line, most, before !== null))}</tbody></table></div>`,
    };
  },
};

function row(line: PythonLine, most: number, twice: boolean): TemplateResult {
  const { before_seconds: before, after_seconds: after } = line;
  const grown = after - (before ?? 0);
  return html`<tr><td>${prose(`\`${line.place}\``)}</td>
    ${twice ? html`<td class="num">${share(line.before_fraction)}<br><span class="s q">${stepTime(before)}</span></td>` : nothing}
    <td class="num">${share(line.after_fraction)}<br><span class="s q">${stepTime(after)}</span></td>
    <td class="bars"><span class="spread" aria-hidden="true">${twice ? bar("was", (before ?? 0) / most) : nothing}${bar("is", after / most)}</span></td>
    ${twice ? html`<td class="num">${grown > 0 ? html`<b>${signed(grown, stepTime)}</b>` : signed(grown, stepTime)}</td>` : nothing}
    <td>${
      line.location === ""
        ? nothing
        : html`<button class="sm" title="Copy the place, to search for it in an editor" @click=${(event: Event) => copy(event, line.location)}>Copy ${line.location}</button>`
    }</td></tr>`;
}

const share = (fraction: number | null): string =>
  fraction === null ? MISSING : percent(fraction);

const bar = (kind: string, part: number): TemplateResult =>
  html`<span class=${kind}><i style=${`left:0;width:${(100 * part).toFixed(1)}%`}></i></span>`;
