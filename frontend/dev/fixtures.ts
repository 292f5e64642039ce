/** Answers the routes from recorded files, so that the page can be worked on without a server. */

import { readFile } from "node:fs/promises";
import type { Plugin } from "vite";

const ROUTES = new Set(["runs", "report", "timeline", "retraces"]);

export function fixtures(): Plugin {
  return {
    name: "slowdown-fixtures",
    apply: "serve",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const path = new URL(request.url ?? "/", "http://dev").pathname;
        const route = path.slice(path.lastIndexOf("/") + 1);
        if (!ROUTES.has(route)) return next();
        readFile(new URL(`./fixtures/${route}.json`, import.meta.url)).then(
          (body) => response.setHeader("content-type", "application/json").end(body),
          next,
        );
      });
    },
  };
}
