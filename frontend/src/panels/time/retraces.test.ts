import { render } from "lit-html";
import { describe, expect, it } from "vitest";
import { cause, report } from "../../../tests/make";
import type { RetraceGroup, Retraces } from "../../api/wire/retraces";
import type { Page } from "../contract";
import { retraces } from "./retraces";

const group = (values: Partial<RetraceGroup>): RetraceGroup => ({
  function: "scale",
  location: "data.py:3",
  cause: "library",
  argument: "",
  what: "",
  count: 4,
  seconds: 0.8,
  first_step: 20,
  last_step: 50,
  fix: "Make the dataset, the iterator or the model once.",
  jit_compile: false,
  examples: [],
  spark: [0, 1],
  ...values,
});

const answer = (values: Partial<Retraces>): Retraces => ({
  status: { status: "measured", reason: "" },
  watched: 2,
  seconds: 0,
  traces: 0,
  groups: [],
  library: [group({})],
  ...values,
});

function shown(data: Retraces, causes = [cause()]): { note: string; text: string } {
  const page = {
    report: report({ causes }),
    open: () => false,
    sortedBy: "seconds",
    actions: {},
  } as unknown as Page;
  const { note, body } = retraces.view(data, page);
  const place = document.createElement("div");
  render(body, place);
  return { note: String(note ?? ""), text: (place.textContent ?? "").replaceAll(/\s+/g, " ") };
}

describe("retraces", () => {
  it("shows functions of libraries where they are what is named", () => {
    const { note, text } = shown(answer({}));
    expect(note).toBe(
      "4 retraces of tf.data and Keras functions, 0.8 s; none of the program's own",
    );
    expect(text).toContain("scale data.py:3 its dataset, iterator, or model was re-created");
    expect(text).toContain("Make the dataset, the iterator or the model once.");
    expect(text).toMatch(/All40\.8 s $/);
  });

  it("says why there are none, and nothing of other records, which may be missing", () => {
    const status = { status: "unavailable", reason: "no record of it" } as const;
    const { text } = shown(answer({ status, library: [] }));
    expect(text.trim()).toBe("Retraces were not measured: no record of it.");
  });

  it("keeps its columns in sight with long names, which are whole on hover", () => {
    const long = "project.models.encoder.Layer.call.<locals>.attention_block";
    const own = group({ function: long, location: "src/models/v2/encoder.py:1000" });
    const place = document.createElement("div");
    const page = { open: () => false, sortedBy: "seconds", actions: {} } as unknown as Page;
    render(retraces.view(answer({ groups: [own] }), page).body, place);
    const [name, where] = [...place.querySelectorAll<HTMLElement>("code, .place")];
    expect([name?.textContent, name?.title]).toEqual(["<locals>.attention_block", long]);
    expect([where?.textContent, where?.title]).toEqual(["encoder.py:1000", own.location]);
  });

  it("does not trouble the reader with them otherwise", () => {
    expect(shown(answer({}), []).text).toBe("No function was retraced. 2 functions watched.");
    const own = group({ function: "train_step", cause: "signature", argument: "x" });
    const { text } = shown(answer({ groups: [own], traces: 4, seconds: 0.8 }));
    expect(text).toContain("train_step");
    expect(text).not.toContain("re-created");
  });
});
