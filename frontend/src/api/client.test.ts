import { describe, expect, it } from "vitest";
import { report } from "../../tests/make";
import { addressOf, Client, RequestFailed } from "./client";

const answering =
  (body: string, status = 200, asked: string[] = []) =>
  async (address: string): Promise<Response> => {
    asked.push(address);
    return new Response(body, { status });
  };

describe("Client", () => {
  it("asks relative addresses only, with every name encoded", async () => {
    const asked: string[] = [];
    const client = new Client(answering("{}", 200, asked));
    await client.timeline('a/b & "c" #1', { first: 3, last: 9, buckets: 800 });
    await client.runs();
    expect(asked).toEqual([
      "./timeline?run=a%2Fb+%26+%22c%22+%231&first=3&last=9&buckets=800",
      "./runs",
    ]);
  });

  it("unwraps the one report", async () => {
    const body = JSON.stringify({ schema: 1, runs: [report()] });
    await expect(new Client(answering(body)).report("run1")).resolves.toEqual(report());
  });

  it("says what the server says when it refuses", async () => {
    const client = new Client(answering('{"error": "no such run: x"}', 404));
    await expect(client.report("x")).rejects.toMatchObject({
      kind: "refused",
      status: 404,
      message: "no such run: x",
    });
  });

  it("does not show the HTML of an error page", async () => {
    const client = new Client(answering("<html>Traceback", 500));
    await expect(client.runs()).rejects.toMatchObject({
      kind: "refused",
      message: "The server answered with status 500.",
    });
  });

  it("tells a server that is gone from an answer that is broken", async () => {
    const gone = new Client(() => Promise.reject(new TypeError("Failed to fetch")));
    await expect(gone.runs()).rejects.toMatchObject({ kind: "gone" });
    await expect(new Client(answering("not json")).runs()).rejects.toMatchObject({
      kind: "broken",
    });
    const empty = new Client(answering('{"schema": 1, "runs": []}'));
    await expect(empty.report("x")).rejects.toBeInstanceOf(RequestFailed);
  });

  it("does not call an aborted request a lost server", async () => {
    const abort = new AbortController();
    abort.abort();
    const client = new Client(() => Promise.reject(new DOMException("", "AbortError")));
    await expect(client.runs(abort.signal)).rejects.toMatchObject({ name: "AbortError" });
  });

  it("writes an address without a question mark when nothing is asked", () => {
    expect(addressOf("runs", {})).toBe("./runs");
  });
});
