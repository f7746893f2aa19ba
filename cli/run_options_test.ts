import assert from "node:assert/strict";
import { UsageError } from "./output.ts";
import { completeRunOptions, type RunFlags } from "./run_options.ts";

const flags = (more: Partial<RunFlags> = {}): RunFlags => ({
  role: ["all"],
  listen: "127.0.0.1:0",
  issue: [],
  dataDir: "/d",
  metricsListen: "127.0.0.1:0",
  simclusters: "0",
  workers: "8",
  workersPerCluster: "2",
  resync: "600",
  logFormat: "text",
  logLevel: "info",
  ...more,
});

Deno.test("completeRunOptions() takes roles repeated and comma-separated, and all of them but simcluster for all", () => {
  assert.deepEqual(completeRunOptions(flags({ role: ["release,cluster", "apiserver"] })).roles, [
    "apiserver",
    "cluster",
    "release",
  ]);
  const all = completeRunOptions(flags()).roles;
  assert.equal(all.includes("health"), true);
  assert.equal((all as string[]).includes("simcluster"), false);
});

Deno.test("completeRunOptions() keeps the store in the data folder unless told otherwise", () => {
  assert.equal(completeRunOptions(flags()).storage, "sqlite:/d/convoy.db");
  assert.equal(completeRunOptions(flags({ storage: "memory" })).storage, "memory");
});

Deno.test("completeRunOptions() names the flag that is wrong", () => {
  const wrong: [Partial<RunFlags>, RegExp][] = [
    [{ role: [] }, /--role takes all, apiserver/],
    [{ role: ["relase"] }, /"relase": --role takes/],
    [{ storage: "postgres:x" }, /--storage takes memory or sqlite:FILE/],
    [{ listen: "8080" }, /--listen takes HOST:PORT/],
    [{ listen: "h:99999" }, /--listen takes HOST:PORT/],
    [{ workers: "0" }, /--workers takes a whole number from 1/],
    [{ issue: ["root=/x"] }, /--issue takes IDENTITY=FILE/],
    [{ role: ["drift"] }, /give --kubeconfig/],
    [{ role: ["drift"], kubeconfig: "/k", storage: "memory" }, /--storage without the role apiserver/],
    [{ kubeconfig: "/k" }, /--kubeconfig with the role apiserver/],
    [{ logFormat: "xml" }, /--log-format takes text, json/],
  ];
  for (const [more, message] of wrong) {
    assert.throws(() => completeRunOptions(flags(more)), (e) => e instanceof UsageError && message.test(e.message));
  }
});

Deno.test("completeRunOptions() reads IPv6 addresses", () => {
  assert.deepEqual(completeRunOptions(flags({ listen: "[::1]:6443" })).listen, { host: "::1", port: 6443 });
});
