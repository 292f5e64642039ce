import { render } from "lit-html";
import { beforeAll, describe, expect, it } from "vitest";
import { cause, judged, report, run, timeline } from "../../tests/make";
import { Client, RequestFailed } from "../api/client";
import type { Worker } from "../api/wire/report";
import { below } from "../panels/later";
import { App } from "./app";
import type { Host } from "./host";
import { Shell } from "./shell";
import { INITIAL, type State } from "./state/state";

beforeAll(() => below().then(() => undefined));

const host: Host = {
  hash: () => "",
  keep: () => undefined,
  link: () => "",
  onHash: () => undefined,
  onKey: () => undefined,
  onReload: () => undefined,
  followTheme: () => undefined,
};
const shell = new Shell(
  new App(
    new Client(),
    host,
    () => undefined,
    () => true,
  ),
);

function shown(state: Partial<State>): HTMLElement {
  const root = document.createElement("div");
  render(shell.page({ ...INITIAL, width: 1000, ...state }, 1200), root);
  return root;
}

const withReport = (values: Parameters<typeof report>[0], name = "run1"): Partial<State> => {
  const answer = report({ run: name, ...values });
  return {
    runs: { runs: [run({ run: name })], other_runs: 0 },
    run: name,
    report: answer,
    panels: new Map([
      ["verdict", { data: answer }],
      ["causes", { data: answer }],
      ["signals", { data: answer }],
    ]),
  };
};

describe("what stands where there is nothing", () => {
  it("shows how to make data where there is none", () => {
    const text = shown({ runs: { runs: [], other_runs: 3 } }).textContent ?? "";
    expect(text).toContain("No step times in this logdir yet.");
    expect(text).toContain("Found 3 runs, but none has Slowdown data.");
    expect(text).toContain('with tbslow.start("logs/run1"):');
  });

  it("stays blank for the first moments, then shows the shapes to come", () => {
    expect(shown({}).querySelector(".skel")).toBeNull();
    expect(shown({ loadingSince: 1199 }).querySelectorAll(".skel").length).toBeGreaterThan(2);
  });

  it("names a run that is not there", () => {
    const state = { runs: { runs: [run()], other_runs: 0 }, run: "gone/<b>" };
    expect(shown(state).textContent).toContain("no run named “gone/<b>”");
  });

  it("lets one panel fail and the rest stand", () => {
    const state = withReport({});
    const panels = new Map(state.panels).set("causes", {
      error: new RequestFailed("refused", "report", 500, "It broke."),
    });
    const page = shown({ ...state, panels });
    expect(page.querySelector("#causes")?.textContent).toContain("It broke.");
    expect(page.querySelector("#causes button")?.textContent).toBe("Try again");
    expect(page.querySelector("h1")?.textContent).toContain("lost (40%)");
  });

  it("says that the server does not answer, and keeps the page", () => {
    const page = shown({ ...withReport({}), gone: { since: 1190, state: 1185, next: 1208 } });
    expect(page.querySelector(".banner")?.textContent).toContain("retrying in 8 s");
    expect(page.querySelector("h1")).not.toBeNull();
    expect(page.querySelector(".live")?.textContent).toContain("finished");
  });

  it("says that chunks are missing", () => {
    const gap = { row: 384, steps: 256, after_step: 383, before_step: 640, seconds: 12.8 };
    const completeness = { chunks: 47, missing_chunks: 2, gaps: [gap, gap] };
    const page = shown(withReport({ completeness }));
    expect(page.querySelector(".banner")?.textContent).toContain(
      "2 of 49 data records are missing (256 steps between 383 and 640, 12.8 s; " +
        "256 steps between 383 and 640, 12.8 s). Their time isn't included in any total.",
    );
  });

  it("says that one chunk is missing, without steps where none are known to be", () => {
    const page = shown(withReport({ completeness: { chunks: 47, missing_chunks: 1, gaps: [] } }));
    expect(page.querySelector(".banner")?.textContent).toContain(
      "1 of 48 data records is missing. Its time isn't included in any total.",
    );
  });
});

describe("the warm-up breakdown", () => {
  it("has no place on the page of a run that lost nothing to its start", () => {
    expect(shown(withReport({ causes: [cause()] })).querySelector("#warmup")).toBeNull();
    const start = cause({ cause: "warm_up", pattern: "warm_up" });
    expect(shown(withReport({ causes: [start] })).querySelector("#warmup")).not.toBeNull();
  });
});

describe("verdicts", () => {
  it("reads as text: sentence, sum and causes", () => {
    const page = shown(withReport({}));
    expect(page.querySelector("h1")?.textContent).toBe(
      "40.0 s of 1 min 40 s lost (40%). Biggest cause: retracing of train_step.",
    );
    expect(page.querySelector(".ledger")?.textContent?.replace(/\s+/g, " ")).toContain("30.0 s");
    expect(page.querySelectorAll("details.cause").length).toBe(3);
    expect(page.querySelector("#card-retracing .body")?.textContent).toContain("90 retraces.");
  });

  const leadOf = (values: Parameters<typeof report>[0]): string =>
    shown(withReport(values)).querySelector(".lead")?.textContent?.trim() ?? "";

  it("tells the two largest terms of the loss, unexplained seconds among them", () => {
    expect(leadOf({})).toBe(
      "Retracing cost 30.0 s, since step 10. Garbage collection cost 6 s, since step 10. " +
        "Fixing retracing and garbage collection would cut these 100 steps to about 1 min 4 s.",
    );
    expect(leadOf({ causes: [cause({ lost_seconds: 10 })], unexplained_seconds: 30 })).toBe(
      "30.0 s is unexplained. Retracing cost 10.0 s, since step 10.",
    );
    expect(leadOf({ causes: [], unexplained_seconds: 40 })).toBe("40.0 s is unexplained.");
    const little = { causes: [cause({ lost_seconds: 39.9 })], unexplained_seconds: 0.1 };
    const two = [
      cause({ cause: "callbacks", subject: "the my_plots callback", lost_seconds: 20 }),
      cause({ cause: "callbacks", subject: "the Logs callback", rank: 2, lost_seconds: 10 }),
    ];
    expect(leadOf(report({ causes: two, unexplained_seconds: 0 }))).toMatch(
      /^The my_plots callback cost 20\.0 s, since step 10\. The Logs callback cost 10\.0 s/,
    );
    expect(leadOf(little)).toMatch(/^Retracing cost 39\.9 s, since step 10\./);
  });

  it("says of a healthy run what its little loss was, and claims no silence about causes", () => {
    const healthy = { verdict: "healthy" as const, headline: "Healthy", lost_fraction: 0.04 };
    const small = { ...healthy, lost_seconds: 4, unexplained_seconds: 1 };
    const start = cause({ cause: "warm_up", pattern: "warm_up", lost_seconds: 3 });
    expect(leadOf({ ...small, causes: [start] })).toContain(
      "4.0 s (4.0%) is above baseline, too little for a slowdown: warm-up 3.0 s, unexplained 1.0 s.",
    );
    const two = [1.75, 1.25].map((seconds, place) =>
      cause({ cause: "callbacks", rank: place + 1, lost_seconds: seconds }),
    );
    expect(leadOf({ ...small, causes: two })).toContain(": callbacks 3.0 s, unexplained 1.0 s.");
    expect(leadOf({ ...small, causes: [] })).toContain("no cause is large enough to report");
  });

  it("says of a healthy run what was checked and what could not be", () => {
    const page = shown(withReport({ verdict: "healthy", headline: "Healthy", causes: [] }));
    expect(page.querySelectorAll(".checks li").length).toBe(21);
    expect(page.querySelector(".checked")?.textContent).toMatch(/\d+ could not be checked/);
  });

  it("names no cause of a run that is too short", () => {
    const short = { verdict: "not_enough_steps" as const, causes: [], unexplained_seconds: 0 };
    const page = shown(withReport(short));
    expect(page.querySelector("#causes")?.textContent).toContain("before there are enough steps");
  });
});

describe("a run of several workers", () => {
  const worker = (number: number, name: string): Worker => ({
    ...{ worker: number, run: name, steps: 100, step_seconds: 0.1, wait_seconds: 1 },
    ...{ others_wait_seconds: 0, last_steps: 0, last_in_a_row: 0, host_class: null },
    ...{ reading: "", straggler: number === 1 },
  });
  const workers = [worker(0, "run1"), worker(1, "run1/slowdown/worker-1")];

  it("has a list of them in the toolbar, with its own chosen", () => {
    const chooser = shown({ ...withReport({}), workers }).querySelector(".worker select");
    expect([...(chooser?.querySelectorAll("option") ?? [])].map((one) => one.textContent)).toEqual([
      "0",
      "1, straggler",
    ]);
    expect((chooser as HTMLSelectElement).value).toBe("run1");
  });

  it("keeps the list while the next one is read, and has none of another run", () => {
    const reading = { ...withReport({}), panels: new Map(), report: undefined, workers };
    const there = { ...reading, run: "run1/slowdown/worker-1" };
    expect(shown(there).querySelector<HTMLSelectElement>(".worker select")?.value).toBe(there.run);
    expect(shown({ ...withReport({}, "run2"), workers }).querySelector(".worker")).toBeNull();
  });
});

describe("a first read that takes long", () => {
  it("counts the seconds once there are some", () => {
    const runs = { runs: [run({ run: "a", steps: 1_200_000 })], other_runs: 0 };
    const text = (since: number): string =>
      shown({ runs, run: "a", loadingSince: since }).querySelector(".loading")?.textContent ?? "";
    expect(text(1199).trim()).toBe("Reading and analyzing a, 1,200,000 steps.");
    expect(text(1190).trim()).toBe("Reading and analyzing a, 1,200,000 steps. 10 s so far.");
    const reading = { runs, run: "a", loadingSince: 1190, readFraction: 0.437 };
    expect(shown(reading).querySelector("[role=status]")?.textContent).toBe(
      "Reading a, 1,200,000 steps: 43%.",
    );
    expect(
      shown({ ...reading, readFraction: null }).querySelector("[role=status]")?.textContent,
    ).toBe("Analyzing a, 1,200,000 steps.");
    const list = shown({ loadingSince: 1190 }).querySelector("[role=status]");
    expect(list?.textContent).toBe("Listing the runs of this logdir.");
    expect(list?.closest("[aria-busy]")).toBeNull();
  });
});

describe("the run at the top of a logdir", () => {
  it("has the name of the logdir wherever people read it", () => {
    const top = run({ run: ".", title: "vit-7" });
    const runs = { runs: [top, run({ run: "fold" })], other_runs: 0 };
    const here = { ...withReport({}, "."), runs, picker: true };
    const page = shown({ ...here, panels: new Map() });
    expect(page.querySelector("button.picker b")?.textContent).toBe("vit-7");
    expect(page.querySelector(".pop tr.sel bdi")?.textContent).toBe("vit-7");
    expect(page.querySelector("[download]")?.getAttribute("download")).toBe("slowdown-vit-7.html");
    const waiting = shown({ runs, run: ".", loadingSince: 1150 });
    expect(waiting.querySelector("[role=status]")?.textContent).toBe(
      "Reading and analyzing vit-7, 100 steps.",
    );
  });
});

describe("the head", () => {
  it("has the settings that tell runs apart, and the others in the tooltip", () => {
    const settings = [
      { name: "tensorflow", value: "2.21.0" },
      { name: "numpy", value: "2.1" },
      { name: "items_per_step", value: 32 },
    ];
    const found = new Map([["run1", judged({ hyperparameters: { learning_rate: 0.001 } })]]);
    const facts = shown({ ...withReport({ settings }), found }).querySelector(".facts");
    const told = [...(facts?.children ?? [])].find((one) => one.textContent?.startsWith("With"));
    expect(told?.textContent).toBe(
      "With learning rate 0.001, tensorflow 2.21.0, items per step 32",
    );
    expect(told?.getAttribute("title")).toContain("numpy 2.1");
  });

  it("asks nothing of a run without a timeline", () => {
    expect(shown(withReport({})).querySelector(".ask")).toBeNull();
    const page = shown({ ...withReport({}), whole: timeline(100, 1) });
    expect(page.querySelector(".ask label")?.textContent).toContain("Slower since step");
    expect(page.querySelector(".ask output")?.textContent?.trim()).toBe("");
  });
});

describe("the timeline", () => {
  it("says why the steps in view are no finer than the whole run", () => {
    const whole = timeline(5000, 10);
    const { panels, ...others } = withReport({});
    const state = { ...others, whole, panels: new Map(panels).set("timeline", { data: whole }) };
    expect(shown(state).querySelector("#timeline [role=status]")).toBeNull();
    const detailError = new RequestFailed("refused", "timeline", 500, "Record 7 can't be read.");
    expect(
      shown({ ...state, detailError }).querySelector("#timeline [role=status]")?.textContent,
    ).toBe("No finer data for these steps: Record 7 can't be read.");
  });
});

describe("names from a logdir", () => {
  const evil = `<img src=x onerror=alert(1)>"'&\u202e\u0000 🏃`;

  it("are text wherever they stand", () => {
    const page = shown(
      withReport(
        {
          headline: `Lost 1% to \`${evil}\``,
          causes: [
            cause({
              summary: evil,
              evidence: [evil],
              advice: [
                { text: evil, code: `+ ${evil}`, price: evil, where: evil, kind: "example" },
              ],
            }),
          ],
          signals: [{ signal: evil, status: "failed", reason: evil }],
          notes: [evil],
          settings: [{ name: evil, value: evil }],
          baseline: evil,
        },
        evil,
      ),
    );
    expect(page.querySelector("img, script")).toBeNull();
    expect(page.querySelector(".picker")?.getAttribute("title")).toBe(`${evil} (choose a run: R)`);
    expect(page.querySelector("h1 code")?.textContent).toBe(evil);
    expect(page.querySelector(".code .a")?.textContent).toBe(evil);
  });
});
