import assert from "node:assert/strict";
import { createLogger, redactText } from "./mod.ts";

function make(options: Parameters<typeof createLogger>[0] = {}) {
  const lines: string[] = [];
  const logger = createLogger({ write: (line) => lines.push(line), now: () => Date.UTC(2026, 0, 1), ...options });
  return { logger, lines };
}

Deno.test("createLogger() writes text for people", () => {
  const { logger, lines } = make();
  logger.with({ loop: "release" }).info("Release applied", {
    key: "team/shop",
    objects: 3,
    note: "two words",
    none: undefined,
  });
  assert.deepEqual(lines, [
    '2026-01-01T00:00:00.000Z INFO  Release applied loop=release key=team/shop objects=3 note="two words"\n',
  ]);
});

Deno.test("createLogger() writes JSON lines for machines", () => {
  const { logger, lines } = make({ format: "json" });
  logger.error("Apply failed", new Error("no\nway", { cause: new Error("refused") }), {
    big: 2n ** 60n,
    list: [1, "a"],
  });
  assert.equal(lines[0]!.split("\n").length, 2);
  assert.deepEqual(JSON.parse(lines[0]!), {
    time: "2026-01-01T00:00:00.000Z",
    level: "error",
    message: "Apply failed",
    big: "1152921504606846976",
    list: [1, "a"],
    error: "no\nway: refused",
  });
});

Deno.test("createLogger() leaves out what is below its level", () => {
  const { logger, lines } = make({ level: "error" });
  logger.debug("D");
  logger.info("I");
  logger.error("E", "why");
  assert.equal(lines.length, 1);
  const debug = make({ level: "debug" });
  debug.logger.debug("D");
  assert.equal(debug.lines.length, 1);
});

for (const format of ["text", "json"] as const) {
  Deno.test(`createLogger() never writes secrets (${format})`, () => {
    const { logger, lines } = make({ format });
    const s = "s3cr3t-value";
    logger.with({ token: s }).info("X", {
      password: s,
      Secret: s,
      authorization: `Bearer ${s}`,
      kubeconfig: s,
      clientSecret: s,
      "api-token": s,
      nested: { deep: [{ accessToken: s }] },
      header: `Authorization: Bearer ${s}`,
      url: `https://user:${s}@host/x`,
      pem: `-----BEGIN EC PRIVATE KEY-----\n${s}\n-----END EC PRIVATE KEY-----`,
    });
    logger.error("Y", new Error(`cannot fetch https://u:${s}@git.example/x`, { cause: new Error(`Bearer ${s}`) }));
    assert(!lines.join("").includes(s), lines.join(""));
    assert.equal(lines.length, 2);
  });
}

Deno.test("createLogger() survives cyclic and hostile values, and a writer that fails", () => {
  const { logger, lines } = make({ format: "json" });
  const loop: Record<string, unknown> = {};
  loop.self = loop;
  logger.info("X", { loop, f: () => 1, bytes: new Uint8Array(3), "__proto__": 1, n: null, date: new Date(0) });
  assert.equal(lines.length, 1);
  JSON.parse(lines[0]!);
  make({
    write() {
      throw new Error("disk full");
    },
  }).logger.info("X");
});

Deno.test("createLogger() shows the stack of faults of the program and of nothing else", () => {
  const { logger, lines } = make({ format: "json" });
  logger.error("X", new TypeError("a is undefined"));
  logger.error("X", new Error("usual"));
  assert.match(JSON.parse(lines[0]!).stack, /logger_test/);
  assert.equal(JSON.parse(lines[1]!).stack, undefined);
});

Deno.test("redactText() cuts long texts and leaves harmless ones alone", () => {
  assert.equal(redactText("https://host/x?a=b user@host basic things"), "https://host/x?a=b user@host basic things");
  assert.equal(redactText("x".repeat(10_000)).length, 4097);
});
