import assert from "node:assert/strict";
import { FakeClock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { silentLogger } from "../../runtime/logger.ts";
import { parseTokens, tokenAuthenticator, tokenFile } from "./token_file.ts";

Deno.test("parseTokens reads kube's CSV: quoted groups, empty uid, comments, CRLF", () => {
  const text = `# who\r\nabc,alice,u1,"dev,ops"\n\nd"e"f , bob,,\ng,"carol ""c""",3\n`;
  assert.deepEqual(parseTokens(text), [
    { token: "abc", user: { name: "alice", uid: "u1", groups: ["dev", "ops"] } },
    { token: "def", user: { name: "bob", groups: [] } },
    { token: "g", user: { name: `carol "c"`, uid: "3", groups: [] } },
  ]);
});

Deno.test("parseTokens names the line of an error and shows no token", () => {
  const cases: [string, RegExp][] = [
    ["ok,a,1\nsecret,b", /line 2: it has 2 fields/],
    [`secret,b,1,"x`, /line 1: a quote is not closed/],
    [",b,1", /line 1: token and user must not be empty/],
    ["secret,,1", /line 1: token and user/],
    ["sec ret,b,1", /line 1: a token must not have spaces/],
    ["secret,a,1\nsecret,b,2", /line 2: the token is there twice/],
  ];
  for (const [text, wanted] of cases) {
    assert.throws(() => parseTokens(text, "tokens.csv"), (e) => {
      const { message } = e as Error;
      return wanted.test(message) && message.startsWith("Cannot read tokens.csv: ") && !/sec ?ret/.test(message);
    });
  }
});

Deno.test("tokenFile reads the file again when it changes and keeps the last good state", async () => {
  const folder = await Deno.makeTempDir();
  const file = `${folder}/tokens.csv`;
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const logger: Logger = { ...silentLogger, error: (_message, error) => errors.push(error) };
  await Deno.writeTextFile(file, "one,alice,1");
  const authenticator = tokenAuthenticator(tokenFile(file, clock, logger));
  const nameOf = async (token: string) => {
    const user = await authenticator.authenticate({ headers: { authorization: `Bearer ${token}` } });
    return typeof user === "object" ? user.name : user;
  };
  const rewrite = async (text: string) => {
    await Deno.writeTextFile(file, text);
    await clock.advance(1_000);
  };
  assert.equal(await nameOf("one"), "alice");
  assert.equal(await nameOf("two"), "invalid");
  await rewrite("two,bob-the-second,1");
  assert.deepEqual([await nameOf("one"), await nameOf("two")], ["invalid", "bob-the-second"]);
  await rewrite("broken");
  assert.equal(await nameOf("two"), "bob-the-second");
  assert.match(String(errors[0]), /line 1/);
  await Deno.remove(file);
  await clock.advance(1_000);
  assert.equal(await nameOf("two"), "bob-the-second");
  assert.equal(errors.length, 2);
  await rewrite("three,carol-the-third,1");
  assert.deepEqual([await nameOf("two"), await nameOf("three")], ["invalid", "carol-the-third"]);
  assert.equal(await authenticator.authenticate({ headers: {} }), undefined);
  await Deno.remove(folder, { recursive: true });
  assert.throws(() => tokenFile(file, clock, logger), /Cannot read the token file .*tokens\.csv/);
});
