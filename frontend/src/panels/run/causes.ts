/** Why, how much, since when, and what to change: one row per defect, ranked. */

import { html, nothing, type TemplateResult } from "lit-html";
import { badge } from "../../charts/badge";
import "../../charts/sparkline";
import type { Advice, OwnLines, RunReport } from "../../api/wire/report";
import { count, duration, ledgerSeconds, percent, range } from "../../base/format";
import { nearest } from "../../model/captures";
import {
  type Card,
  cards,
  densest,
  openAtFirst,
  rhythm,
  sparkline,
  windowOf,
} from "../../model/run/cards";
import { firstSentence } from "../../model/text";
import { rowOfStep } from "../../model/timeline/track";
import { between, padded } from "../../model/timeline/window";
import { type Page, sealed } from "../contract";
import { codeBox, prose } from "../pieces";

const SPARK_BARS = 62;

export const causes = sealed<RunReport>({
  id: "causes",
  title: "Causes",
  anchor: "Causes",
  reserve: 400,
  load: (source) => source.report(),
  view: (report, page) => {
    const list = cards(report);
    if (list.length === 0) return { body: html`<p class="empty">${none(report)}</p>` };
    const open = new Set(openAtFirst(list));
    const isOpen = (card: Card): boolean => page.open(card.id, open.has(card.id));
    const all = list.every(isOpen);
    return {
      note: "ranked by time lost; each second counts toward one cause",
      tools: html`<button class="sm quiet" @click=${() =>
        page.actions.allCards(
          list.map((card) => card.id),
          !all,
        )}>${all ? "Close all" : "Open all"}</button>`,
      body: html`${heads(page)}${list.map((card) => row(card, page, isOpen(card)))}${footnote}`,
    };
  },
});

const none = (report: RunReport): string =>
  report.verdict === "not_enough_steps"
    ? "No cause is named before there are enough steps for a verdict."
    : "No cause reaches 0.5% of the run.";

const footnote = html`<p class="s q foot">Confidence. High: timed directly. Medium: a measured state or counter matches the slow steps. Low: something grew at the same time; its time stays unexplained. Causes below 0.5% of the run are not listed.</p>`;

function heads(page: Page): TemplateResult {
  const first = page.run.first_step;
  const last = page.report?.as_of?.step ?? page.run.last_step; // of a first part: where that ends
  const steps = first !== null && last !== null ? `, steps ${count(first)} to ${count(last)}` : "";
  return html`<div class="rowg heads" aria-hidden="true"><span></span><span>What</span><span>When${steps}</span><span>Since</span><span class="num">Lost</span><span class="num">Of run</span><span>Confidence</span><span></span></div>`;
}

function row(card: Card, page: Page, open: boolean): TemplateResult {
  return html`<details class="cause" id=${`card-${card.id}`} ?open=${open}>
    <summary class="rowg" @click=${(event: Event) => {
      event.preventDefault();
      page.actions.card(card.id, !open);
    }}>${badge(card.cause)}<span class="ti"><h3>${card.name}</h3><span class="sub">${prose(card.summary)}</span></span>
      ${spark(card, page)}
      ${since(card, page)}
      <span class="num"><b>${ledgerSeconds(card.lostSeconds, page.report?.wall_seconds)}</b>${
        card.lostSeconds >= 60
          ? html`<br><span class="s q">${duration(card.lostSeconds)}</span>`
          : nothing
      }</span>
      <span class="num">${percent(card.share)}</span>
      <span class=${card.bars === 0 ? "conf q" : "conf"} title=${card.confidenceMeaning}><i aria-hidden="true">${[
        1, 2, 3,
      ].map(
        (bar) => html`<u class=${bar > card.bars ? "o" : ""}></u>`,
      )}</i>${card.confidence}</span>
      <span class="chev" aria-hidden="true">▸</span>
    </summary>
    ${open ? body(card, page) : nothing}
  </details>`;
}

function spark(card: Card, page: Page): TemplateResult {
  const scene = page.whole;
  const isOwn = card.isOnly ?? true;
  if (scene === undefined || !isOwn)
    return html`<span class=${isOwn ? "spark" : "spark none"}></span>`;
  const bars = sparkline(scene.timeline, card.cause, SPARK_BARS);
  const late = card.steps !== undefined && card.pattern !== "warm_up" && card.pattern !== "flat";
  const row = late && card.steps ? rowOfStep(scene.track, card.steps[0]) : 0;
  const onset = row > 0 ? row / scene.timeline.rows : undefined;
  return html`<sd-spark class="spark" role="img" aria-label="Seconds lost over the run"
    .cause=${card.cause} .bars=${bars} .onset=${onset}></sd-spark>`;
}

function since(card: Card, page: Page): TemplateResult {
  if (card.steps === undefined) return html`<span class="q">no clear start</span>`;
  return html`<span>step ${count(card.steps[0])}<br><span class="s q">${rhythm(card, page.whole?.track)}</span></span>`;
}

function body(card: Card, page: Page): TemplateResult {
  return html`<div class="body">
    <div>
      <ul>${card.evidence.map((sentence) => html`<li>${prose(sentence)}</li>`)}</ul>
      ${card.steps === undefined ? where(card, page) : html`<div class="acts">${actions(card, page)}</div>`}
    </div>
    <div>${card.source ? ownLines(card.source) : nothing}${ways(card.advice)}</div>
  </div>`;
}

/** Of seconds without an onset: where most of them lie. */
function where(card: Card, page: Page): TemplateResult | typeof nothing {
  const scene = page.whole;
  const stretch = scene && densest(scene.timeline, card.id);
  if (scene === undefined || stretch === undefined) return nothing;
  const window = between(stretch.first, stretch.last);
  // Its edges are those of what is drawn, which a wide window draws finer: no figures.
  return html`<div class="acts"><button @click=${() => page.actions.showRows(padded(window, 0.5, scene.timeline.rows))}>Show where most are</button>
    ${window.from > 0 ? html`<button @click=${() => page.actions.explain(window)}>What changed there?</button>` : nothing}</div>`;
}

function actions(card: Card, page: Page): TemplateResult {
  const window = page.whole && windowOf(card, page.whole.track);
  if (window === undefined || card.steps === undefined) return html``;
  const rows = page.whole?.timeline.rows ?? 1;
  const steps = range(card.steps[0], card.steps[1]);
  const trace = nearest(page.captures?.list.captures ?? [], window);
  return html`<button @click=${() => page.actions.showRows(padded(window, 0.05, rows))}>Show ${card.steps[0] === card.steps[1] ? "step" : "steps"} ${steps}</button>
    ${
      window.from > 0
        ? html`<button @click=${() => page.actions.explain(window)}>What changed at ${count(card.steps[0])}?</button>`
        : nothing
    }
    ${
      trace === undefined
        ? nothing
        : html`<button @click=${() => page.actions.openTrace(trace)}>Trace of ${trace.at ? "these steps" : "the nearest steps"}</button>`
    }
    ${
      card.cause === "retracing"
        ? html`<button class="quiet" @click=${() => page.actions.goTo("retraces")}>All retraces</button>`
        : nothing
    }
    ${
      card.cause === "warm_up"
        ? html`<button class="quiet" @click=${() => page.actions.goTo("warmup")}>Warm-up breakdown</button>`
        : nothing
    }
    ${
      card.cause === "communication" && (page.report?.workers.length ?? 0) > 0
        ? html`<button class="quiet" @click=${() => page.actions.goTo("workers")}>All workers</button>`
        : nothing
    }`;
}

/** The first way in full; further ones open on demand, so that the page stays short. */
function ways(list: readonly Advice[]): TemplateResult {
  const [first, ...others] = list;
  if (first === undefined) return html``;
  return html`<div class="advice"><p>${lead(first)}</p>${change(first)}</div>
    ${others.map(
      (one) =>
        html`<details class="advice"><summary>${lead(one)}</summary>${change(one)}</details>`,
    )}`;
}

function lead(one: Advice): TemplateResult {
  const [what, why] = firstSentence(one.text);
  return html`<b>${prose(what)}</b> ${prose(why)}`;
}

/** Whose code it is, and where it belongs. */
function heading(one: Advice): string {
  const title = one.kind === "patch" ? "Change" : "Example";
  return one.where ? `${title}: ${one.where}` : title;
}

const ownLines = ({ where, code, lines, open }: OwnLines): TemplateResult =>
  codeBox(where, code, "patch", lines, open);

const change = (one: Advice): TemplateResult =>
  html`${one.code === "" ? nothing : codeBox(heading(one), one.code, one.kind, one.lines, one.open)}${
    ["", "None."].includes(one.price)
      ? nothing
      : html`<p class="s q">Trade-off: ${prose(one.price)}</p>`
  }`;
