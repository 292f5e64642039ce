/** What stands where there is nothing to show: designed, never blank. */

import { html, nothing, type TemplateResult } from "lit-html";
import { count, plural } from "../base/format";
import { codeBox, copy } from "../panels/pieces";
import type { App } from "./app";
import { type State, shownRun } from "./state/state";

/** From so many on the seconds of waiting are counted. */
const LONG_SECONDS = 3;

interface Sample {
  readonly name: string;
  readonly file: string;
  readonly code: string;
}

/** The lines that make data, as README shows them. */
export const SAMPLES: readonly Sample[] = [
  {
    name: "Custom loop",
    file: "train.py",
    code: [
      "+ import tbslow",
      "  ",
      '+ with tbslow.start("logs/run1"):',
      "+     for batch in tbslow.data(dataset):",
      "+         with tbslow.summary.step():",
      "              loss = train_step(batch)",
    ].join("\n"),
  },
  {
    name: "Keras",
    file: "train.py",
    code: [
      "+ import tbslow.keras",
      "  ",
      '+ slowdown = tbslow.keras.SlowdownCallback("logs/run1")',
      "  model.fit(",
      "      dataset,",
      "+     callbacks=[slowdown],",
      "  )",
    ].join("\n"),
  },
  {
    name: "tf.summary",
    file: "train.py",
    code: [
      "+ import tbslow",
      "  ",
      '  with tf.summary.create_file_writer("logs/run1").as_default():',
      "      for i, batch in enumerate(dataset):",
      "+         with tbslow.summary.step(i):",
      "              train_step(batch)",
    ].join("\n"),
  },
];

export function noData(app: App, state: State): TemplateResult {
  const others = state.runs?.other_runs ?? 0;
  const found =
    others === 0 ? "No runs found." : `Found ${plural(others, "run")}, but none has Slowdown data.`;
  const sample = SAMPLES[state.sample] ?? (SAMPLES[0] as Sample);
  return html`<div class="none-yet">
    <h1>No step times in this logdir yet.</h1>
    <p class="lead">${found} Add these lines to the training program; the page fills in about 10 seconds after the first step.</p>
    <div class="seg" role="group" aria-label="Kind of program">${SAMPLES.map(
      (one, index) =>
        html`<button aria-pressed=${one === sample ? "true" : "false"} @click=${() => app.sample(index)}>${one.name}</button>`,
    )}</div>
    ${codeBox(sample.file, sample.code)}
    <p class="q">Retraces, memory, garbage collection, and CPU are recorded automatically.</p>
  </div>`;
}

/** The run of the address is not in this logdir. */
export function unknownRun(app: App, run: string): TemplateResult {
  return html`<div class="none-yet"><h1>No such run.</h1>
    <p class="lead">This logdir has no run named “<bdi>${run}</bdi>” with Slowdown data; it may have been deleted or renamed.</p>
    <p><button @click=${() => app.picker(true)}>Choose another run</button></p></div>`;
}

export function unreadable(app: App, error: Error): TemplateResult {
  return html`<div class="none-yet"><h1>The runs could not be read.</h1><p class="lead">${error.message}</p>
    <p><button @click=${() => void app.refresh()}>Try again</button></p></div>`;
}

/** Shapes of the page to come, in its heights, so that nothing jumps. */
export function loading(state: State, now: number): TemplateResult | typeof nothing {
  if (state.loadingSince === undefined) return nothing;
  const seconds = Math.floor(now - state.loadingSince);
  return html`<div class="loading"><div aria-busy="true">
    <div class="skel" style="width:62%;height:28px"></div><div class="skel" style="width:84%;height:20px;margin-top:4px"></div>
    <div class="skel" style="height:32px;margin-top:16px"></div><div class="skel" style="width:70%;height:32px;margin-top:12px"></div></div>
    <p class="q" role="heading" aria-level="1"><span role="status">${progress(state)}</span>${seconds < LONG_SECONDS ? nothing : ` ${count(seconds)} s so far.`}</p></div>`;
}

/** What is being done, and how much of it there is. */
function progress(state: State): string {
  if (state.runs === undefined) return "Listing the runs of this logdir.";
  const run = shownRun(state);
  const steps = run?.steps ? `, ${plural(run.steps, "step")}` : "";
  const what = `${run?.title ?? "the run"}${steps}`;
  if (state.readFraction === undefined) return `Reading and analyzing ${what}.`;
  if (state.readFraction === null) return `Analyzing ${what}.`;
  return `Reading ${what}: ${Math.floor(100 * state.readFraction)}%.`;
}

export function panelFailed(app: App, id: string, error: Error): TemplateResult {
  const details = `${id}: ${error.name}: ${error.message}`;
  return html`<p class="empty">${error.message}</p>
    <p class="acts"><button @click=${() => app.retry(id)}>Try again</button>
    <button class="quiet" @click=${(event: Event) => void copy(event, details)}>Copy details for a bug report</button></p>`;
}
