/** Is it slow, and where did the time go: one sentence, one bar, one sum. */

import { html, nothing, type TemplateResult } from "lit-html";
import type { Cause, Confirming, RunReport } from "../../api/wire/report";
import {
  ago,
  count,
  decimal,
  duration,
  ledgerSeconds,
  percent,
  plural,
  signed,
  stepTime,
} from "../../base/format";
import { CONFIRMING, causeKind, HEALTHY, nameInText, UNEXPLAINED } from "../../catalog/causes";
import { badge } from "../../charts/badge";
import { textWidth } from "../../charts/canvas/text_labels";
import { answerSince } from "../../model/changes/answer";
import { stretchBefore } from "../../model/changes/changed";
import { cardId, isOnly, sparable, UNEXPLAINED_SHARE } from "../../model/run/cards";
import {
  firstWord,
  lostByCause,
  type Segment,
  segments,
  type Term,
  terms,
} from "../../model/run/ledger";
import { checks, isChecked, tally } from "../../model/run/measurement_summary";
import { type Page, sealed } from "../contract";
import { prose } from "../pieces";

export const verdict = sealed<RunReport>({
  id: "verdict",
  title: "",
  load: (source) => source.report(),
  view: (report, page) => ({ body: html`${headline(report, page)}${where(report, page)}` }),
});

function headline(report: RunReport, page: Page): TemplateResult {
  return html`<h1>${prose(withStop(quoted(report.headline)))}</h1>${blind(report)}${lead(report, page)}${asOf(report, page)}${ask(page)}`;
}

/** "Slower since step ...": the field, and the answer once what changed is known. */
function ask(page: Page): TemplateResult | typeof nothing {
  // A report in one file has nobody to ask.
  if (page.whole === undefined || page.shared) return nothing;
  const { since, changes, changesError, actions } = page;
  return html`<form class="ask" @submit=${(event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).querySelector("input");
    const step = Number.parseInt(field?.value ?? "", 10);
    if (step >= 0) actions.since(step);
  }}><label>Slower since step <input inputmode="numeric" pattern="[0-9]*" size="8" .value=${since?.toString() ?? ""}></label>
    <button class="sm" tabindex="-1">Ask</button>
    <output>${
      since === undefined
        ? nothing
        : html`${changesError?.message ?? (changes ? answerSince(since, changes) : tooEarly(page))}
          ${changes === undefined ? nothing : html`<button type="button" class="link" @click=${() => actions.goTo("changed")}>All changes</button>`}`
    }</output></form>`;
}

const tooEarly = ({ selection, since }: Page): string =>
  selection !== undefined && stretchBefore(selection) === undefined
    ? `Too few steps come before step ${count(since ?? 0)} to compare with.`
    : "";

/** A name before its place in the source is code: "train_step (train.py:41)". */
const quoted = (sentence: string): string =>
  sentence.replace(/([\w.<>]+)(?= \([^()]+:\d+\))/g, "`$1`");

/** Of a live run: up to which step all of this was judged. */
function asOf(report: RunReport, page: Page): TemplateResult | typeof nothing {
  const { as_of: snapshot } = report;
  if (!page.run.live || page.shared || !snapshot) return nothing;
  return html`<p class="s q">As of step ${count(snapshot.step)}, ${ago(page.now - snapshot.ended)}. ${prose(report.remaining?.text ?? "The run goes on.")}</p>`;
}

const withStop = (sentence: string): string =>
  /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;

/** Where nobody could look, before anything is called healthy. */
const blind = (report: RunReport): TemplateResult[] =>
  (report.blind_spots ?? []).map((each) => html`<p class="lead blind">${prose(each)}</p>`);

function lead(report: RunReport, page: Page): TemplateResult | typeof nothing {
  switch (report.verdict) {
    case "not_enough_steps":
      return html`<p class="lead">A verdict needs a level that holds for a while. ${
        report.causes.length > 0
          ? "What is certain already is named below"
          : "No cause and no lost time is reported before that"
      }; the timeline already runs.</p>`;
    case "healthy":
      if (report.causes.some((cause) => cause.external)) return lostLead(report, page);
      return report.judged === "partly" ? nothing : healthyLead(report);
    default:
      return report.confirming
        ? confirmingLead(report, report.confirming, page)
        : lostLead(report, page);
  }
}

/** Of the wall: less is shown as nothing. */
const LEAST_SHARE = 0.0005;

function healthyLead(report: RunReport): TemplateResult {
  const { lost_seconds: lost, lost_fraction: share, unexplained_seconds: rest } = report;
  const text = (seconds: number): string => ledgerSeconds(seconds, report.wall_seconds);
  const parts = [...lostByCause(report)].map(
    ([cause, seconds]) => `${nameInText(cause)} ${text(seconds)}`,
  );
  const growth = report.restarting_growth;
  const above = growth
    ? `Beyond the first steps of each cycle that is ${text(growth.above_seconds)}, which isn't counted as lost: the notes say what to look for.`
    : lost < LEAST_SHARE * report.wall_seconds
      ? report.steady
        ? "No step is above the baseline."
        : "No time is counted as lost."
      : parts.length === 0
        ? `${text(lost)} (${percent(share)}) is above baseline, but no cause is large enough to report. ${text(rest)} is unexplained.`
        : `${text(lost)} (${percent(share)}) is above baseline, too little for a slowdown: ${[...parts, `unexplained ${text(rest)}`].join(", ")}.`;
  const feels = report.steady ? " Step time hasn't changed during this run." : "";
  return html`<p class="lead">${above}${feels}</p>`;
}

/** What recent steps take, in healthy steps. */
function recentTimes(report: RunReport): number | undefined {
  const healthy = report.healthy_step_seconds;
  const now = report.recent;
  return healthy !== null && healthy > 0 && now ? now.seconds / healthy : undefined;
}

/** What waits to be confirmed, then the largest cause. */
function confirmingLead(
  report: RunReport,
  { seconds, decided_step: step }: Confirming,
  page: Page,
): TemplateResult {
  const wall = report.wall_seconds;
  const pending = html`<a href="#" @click=${(event: Event) => {
    event.preventDefault();
    page.actions.showCard(CONFIRMING);
  }}>being confirmed</a>`;
  const [first] = report.causes;
  const more = first
    ? ` ${duration(lostByCause(report).get(first.cause) ?? 0)} is lost to ${nameInText(first.cause)}${since(first)}.`
    : "";
  return html`<p class="lead">${ledgerSeconds(seconds, wall)} (${percent(wall > 0 ? seconds / wall : 0)}) above the baseline is ${pending}, by about step ${count(step)}.${more}</p>`;
}

/** The two largest terms of the loss, in the order of their seconds. */
function lostLead(report: RunReport, page: Page): TemplateResult {
  const link = (id: string, name: string): TemplateResult =>
    html`<a href="#" @click=${(event: Event) => {
      event.preventDefault();
      page.actions.showCard(id);
    }}>${name}</a>`;
  const named = report.causes.map((cause) => ({
    seconds: cause.lost_seconds,
    text: html`${link(cardId(cause), nameOf(cause, report))} cost ${duration(cause.lost_seconds)}${since(cause)}. `,
  }));
  const rest = report.unexplained_seconds;
  const text = html`${duration(rest)} is ${link(UNEXPLAINED, "unexplained")}. `;
  const unexplained = { seconds: rest, text };
  const told = rest >= UNEXPLAINED_SHARE * report.wall_seconds ? [...named, unexplained] : named;
  const largest = told.sort((a, b) => b.seconds - a.seconds).slice(0, 2);
  return html`<p class="lead">${largest.map((one) => one.text)}${giveBackSentence(report)}${machine(report)}</p>`;
}

/** Whether it is the program or the machine, where that was measured. */
const machine = (report: RunReport): string =>
  report.causes.length === 0 ||
  report.causes.some((cause) => cause.external) ||
  !isChecked(report, "cpu_contention")
    ? ""
    : " Every named cause is in the program itself.";

/** Its cause; of several with the same cause what tells it apart. */
const nameOf = (cause: Cause, report: RunReport): string => {
  const { subject = "" } = cause;
  if (isOnly(cause, report) || subject === "") return causeKind(cause.cause).name;
  return subject.charAt(0).toUpperCase() + subject.slice(1);
};

const since = (cause: Cause): string =>
  cause.pattern === "warm_up" ? " at the start" : `, since step ${count(cause.steps[0])}`;

/** What the run would take without what was timed, where that is most of the loss. */
function giveBackSentence(report: RunReport): string {
  const timed = sparable(report);
  const back = timed.reduce((sum, cause) => sum + cause.lost_seconds, 0);
  if (back < report.lost_seconds / 2) return "";
  const without =
    timed.length > 2
      ? `the ${timed.length} timed causes`
      : [...new Set(timed.map((cause) => nameInText(cause.cause)))].join(" and ");
  return `Fixing ${without} would cut these ${plural(report.steps, "step")} to about ${duration(report.wall_seconds - back)}.`;
}

function where(report: RunReport, page: Page): TemplateResult {
  const ledger = terms(report);
  const bar = segments(ledger, page.width, textWidth);
  return html`<div class="where" role="group" aria-label=${`Where ${ledgerSeconds(report.wall_seconds, report.wall_seconds)} went`}>
      ${bar.map((segment) => barSegment(segment, report.wall_seconds, page))}
    </div>
    <div class="ledger">
      <span class="it"><span class="nm all">Run</span><span><b>${ledgerSeconds(report.wall_seconds, report.wall_seconds)}</b><small>100%</small></span></span>
      ${ledger.map((term, index) => ledgerTerm(term, index === 0 ? "=" : "+", report.wall_seconds, page))}
    </div>
    ${facts(report, page)}
    ${report.verdict === "healthy" ? checklist(report, page) : nothing}`;
}

function barSegment(segment: Segment, wall: number, page: Page): TemplateResult {
  const { term, widthPixels, label } = segment;
  const healthy = term.id === HEALTHY;
  const share = percent(term.share);
  const look = healthy ? "h" : `f-${causeKind(term.id).family} t-${causeKind(term.id).texture}`;
  const hot = page.hot === term.id ? "hot" : "";
  const text =
    label === "full"
      ? html`<b>${term.name}</b> ${share}`
      : label === "name"
        ? html`<b>${term.name}</b>`
        : label === "word"
          ? html`<b>${firstWord(term.name)}</b>`
          : html`<span class="tiny">${term.code}</span>`;
  return html`<button class=${`${look} ${hot}`} style=${`width:${widthPixels.toFixed(2)}px`}
    title=${`${term.name}: ${ledgerSeconds(term.seconds, wall)}, ${share}`}
    aria-label=${`${label === "code" ? `${term.code} ` : ""}${term.name} ${share}, ${ledgerSeconds(term.seconds, wall)}`}
    @click=${() => healthy || page.actions.showCard(term.id)}
    @pointerenter=${() => page.actions.hot(term.id)} @pointerleave=${() => page.actions.hot(undefined)}>${text}</button>`;
}

function ledgerTerm(term: Term, operator: string, wall: number, page: Page): TemplateResult {
  const body = html`${badge(term.id)}<span class="nm">${term.name}</span>
    <span class="all">${ledgerSeconds(term.seconds, wall)}<small>${percent(term.share)}</small></span>`;
  const hot = page.hot === term.id ? "it hot" : "it";
  return html`<span class="term"><span class="op" aria-hidden="true">${operator}</span>${
    term.id === HEALTHY
      ? html`<span class=${hot}>${body}</span>`
      : html`<button class=${hot} @click=${() => page.actions.showCard(term.id)}
          @pointerenter=${() => page.actions.hot(term.id)} @pointerleave=${() => page.actions.hot(undefined)}>${body}</button>`
  }</span>`;
}

/** What tells runs apart: the others are in the tooltip. */
const TOLD = ["items_per_step", "workers", "devices", "tensorflow", "keras", "python"];

/** Hyperparameters, devices and versions, where they are known. */
function settings(report: RunReport, page: Page): TemplateResult | typeof nothing {
  const found = report.settings ?? [];
  const logged = Object.entries(page.hyperparameters).map(([name, value]) => ({ name, value }));
  const text = (list: readonly { readonly name: string; readonly value: unknown }[]): string =>
    list.map(({ name, value }) => `${name.replaceAll("_", " ")} ${value}`).join(", ");
  const told = [...logged, ...found.filter(({ name }) => TOLD.includes(name))];
  return told.length === 0
    ? nothing
    : html`<span title=${text([...logged, ...found])}>With ${text(told)}</span>`;
}

function facts(report: RunReport, page: Page): TemplateResult {
  const healthy = report.healthy_step_seconds;
  const now = report.recent;
  const times = recentTimes(report);
  return html`<div class="facts s">
    ${
      healthy === null
        ? nothing
        : html`<span>Baseline: <b>${stepTime(healthy)}</b> per step, ${prose(report.baseline)}</span>`
    }
    ${
      now == null
        ? nothing
        : html`<span>Now: <b>${stepTime(now.seconds)}</b> per step (median of the last ${count(now.steps)})${
            times === undefined ? "" : `, ${against(times)}`
          }</span>`
    }
    ${settings(report, page)}
    ${report.step_rule == null ? nothing : html`<span>${prose(report.step_rule)}</span>`}
    ${(report.notes ?? []).map((note) => html`<span>${prose(note)}</span>`)}
  </div>`;
}

/** "+43%"; from twice on in times, which are easier to grasp than 1,067%. */
const against = (times: number): string =>
  times >= 2
    ? `${decimal(times, times < 10 ? 1 : 0)} times the baseline`
    : signed(100 * (times - 1), (value) => `${decimal(value, 0)}%`);

function checklist(report: RunReport, page: Page): TemplateResult {
  const list = checks(report, page.whole?.timeline);
  const { measured, blind } = tally(list);
  return html`<p class="checked"><b>${list.length} causes checked</b>: ${measured} with measured signals, ${blind} could not be checked</p>
    <ul class="checks">${list.map(
      (check) =>
        html`<li>${badge(check.id)}<span>${causeKind(check.id).name}</span><span class=${check.seen ? "" : "q"} title=${check.text}>${check.text}
          ${
            check.seen
              ? html`<span class="good" title="checked, nothing found">✓</span>`
              : html`<span title="could not be checked">○</span>`
          }</span></li>`,
    )}</ul>
    <p class="q">Healthy doesn't mean fast: a run that was slow from its first step looks the same.</p>`;
}
