import { describe, expect, it } from "vitest";
import { reasonOf } from "./retrace_reason";

describe("reasonOf", () => {
  const change = (before: string, after: string) => ({
    argument: "rate",
    what: "python_number",
    before,
    after,
  });
  const example = (before: string, after: string) => ({
    row: 0,
    step: 0,
    seconds: 1,
    building_seconds: null,
    execution_seconds: null,
    operations: null,
    changes: [change(before, after)],
  });
  const group = {
    function: "f",
    location: "",
    cause: "signature",
    argument: "rate",
    what: "python_number",
    count: 2,
    seconds: 1,
    first_step: 0,
    last_step: 1,
    fix: "",
    jit_compile: false,
    examples: [example("1", "2"), example("3", "4")],
    spark: [],
  };

  it("shows the first and the last pair of values", () => {
    expect(reasonOf(group)).toBe("argument `rate`: 1 → 2, … 3 → 4");
  });

  it("names the type once and shortens long fractions", () => {
    const long = example("Python float 0.1", "Python float 0.0013741515996288068");
    expect(reasonOf({ ...group, examples: [long] })).toBe(
      "argument `rate`: Python float 0.1 → 0.00137415",
    );
  });

  it("says of a library's function what was made anew around it", () => {
    const library = { ...group, argument: "", what: "", cause: "library" };
    expect(reasonOf(library)).toBe("its dataset, iterator, or model was re-created");
  });

  it("says the cause where no argument differs", () => {
    expect(
      reasonOf({ ...group, argument: "", what: "", cause: "new_function", examples: [] }),
    ).toBe("new function");
  });
});
