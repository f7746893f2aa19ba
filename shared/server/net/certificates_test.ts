import assert from "node:assert/strict";
import { FakeClock } from "../../runtime/clock.ts";
import { loadCertificates } from "./certificates.ts";
import { inspect, makeAuthority } from "./issue.ts";

const DAY = 86_400_000;
const HOSTS = ["localhost", "127.0.0.1", "::1"];

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(`${folder}/pki`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("loadCertificates makes, keeps and reuses; keys are for the owner only", () =>
  inFolder(async (folder) => {
    const clock = new FakeClock();
    const first = await loadCertificates(folder, HOSTS, clock);
    assert.deepEqual(inspect(first.server.certPem).hosts.filter((h) => !h.includes(":")), ["localhost", "127.0.0.1"]);
    for (const file of ["ca.pem", "server.pem"]) {
      assert.equal((await Deno.stat(`${folder}/${file}`)).mode! & 0o777, 0o600, file);
    }
    assert.equal((await Deno.stat(folder)).mode! & 0o777, 0o700);
    assert.equal(await Deno.readTextFile(`${folder}/ca.crt`), first.caPem);
    assert.doesNotMatch(first.caPem, /PRIVATE/);
    await clock.advance(100 * DAY);
    const second = await loadCertificates(folder, HOSTS, clock);
    assert.deepEqual([second.caPem, second.server], [first.caPem, first.server]);
    const client = await second.issueClient("u", ["g"]);
    assert.equal(await inspect(client.certPem).isSignedBy(first.caPem), true);
  }));

Deno.test("loadCertificates renews the server's certificate near its end and for new hosts", () =>
  inFolder(async (folder) => {
    const clock = new FakeClock();
    const first = await loadCertificates(folder, HOSTS, clock);
    const moved = await loadCertificates(folder, [...HOSTS, "convoy.example"], clock);
    assert.equal(moved.caPem, first.caPem);
    assert.ok(inspect(moved.server.certPem).hosts.includes("convoy.example"));
    await clock.advance(336 * DAY);
    const renewed = await loadCertificates(folder, HOSTS, clock);
    assert.equal(renewed.caPem, first.caPem);
    assert.ok(inspect(renewed.server.certPem).notAfter > clock.now() + 360 * DAY);
  }));

Deno.test("loadCertificates renews the authority near its end and trusts the old one until then", () =>
  inFolder(async (folder) => {
    const clock = new FakeClock();
    const first = await loadCertificates(folder, HOSTS, clock);
    await clock.advance(3300 * DAY);
    const second = await loadCertificates(folder, HOSTS, clock);
    assert.notEqual(second.caPem, first.caPem);
    assert.ok(second.caPem.endsWith(first.caPem));
    assert.equal(await inspect(second.server.certPem).isSignedBy(second.caPem), true);
    assert.equal((await loadCertificates(folder, HOSTS, clock)).caPem, second.caPem);
    await clock.advance(3300 * DAY);
    const third = await loadCertificates(folder, HOSTS, clock);
    assert.ok(!third.caPem.includes(first.caPem), "an expired authority is dropped");
  }));

Deno.test("loadCertificates refuses files that it cannot read and leaves them as they are", () =>
  inFolder(async (folder) => {
    const clock = new FakeClock();
    await loadCertificates(folder, HOSTS, clock);
    const good = await Deno.readTextFile(`${folder}/ca.pem`);
    const otherKey = (await makeAuthority("other", { now: clock.now(), ms: DAY })).keyPem;
    for (
      const bad of [
        "",
        "junk",
        good.slice(0, 300),
        good.replace(/[A-Za-z]{20}/, "A".repeat(20)),
        otherKey + good.slice(otherKey.length),
      ]
    ) {
      await Deno.writeTextFile(`${folder}/ca.pem`, bad);
      await assert.rejects(
        loadCertificates(folder, HOSTS, clock),
        /Cannot use the certificates in .*ca\.pem: .*\(clients trust it: restore it, or remove it to make new ones\)/,
      );
      assert.equal(await Deno.readTextFile(`${folder}/ca.pem`), bad);
    }
  }));
