import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { FakeClock } from "../runtime/clock.ts";
import { ArtifactError, DiskArtifactStore, type NewEntry } from "./mod.ts";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "convoy-artifact-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function write(root: string, files: Record<string, string>): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

const ref = (digest: string) => ({ digest, revision: "main@sha1:c1", lastUpdateTime: "2026-01-01T00:00:00Z" });
const text = async (file: { read(): Promise<Uint8Array> }) => new TextDecoder().decode(await file.read());
const problem = (name: string, message = /./) => (e: unknown) =>
  e instanceof ArtifactError && e.problem === name && message.test(e.message);

Deno.test("DiskArtifactStore keeps a folder and gives its files in byte order", () =>
  withFolder(async (dir) => {
    const source = await write(join(dir, "src"), {
      "b.yaml": "b",
      "a/z.yaml": "z",
      "a.yaml": "a",
      "é": "",
      ".git/HEAD": "x",
    });
    const store = new DiskArtifactStore(join(dir, "data"));
    const digest = await store.put(source);
    assert.match(digest, /^sha256:[0-9a-f]{64}$/);
    assert.ok(await store.has(digest));
    assert.deepEqual((await store.files(ref(digest), "")).map((f) => f.path), ["a.yaml", "a/z.yaml", "b.yaml", "é"]);
    const [file] = await store.files(ref(digest), "./a/");
    assert.equal(file!.path, "a/z.yaml");
    assert.equal(await text(file!), "z");
    assert.deepEqual((await store.files(ref(digest), "b.yaml")).map((f) => f.path), ["b.yaml"]);
    await assert.rejects(store.files(ref(digest), "nope"), problem("NotFound", /at the top are "a"/));
    await assert.rejects(store.files(ref(digest), "../x"), problem("Unsafe"));
  }));

Deno.test("DiskArtifactStore gives the digest by content, path and mode, not by time or order", () =>
  withFolder(async (dir) => {
    const store = new DiskArtifactStore(join(dir, "data"));
    const one = await store.put(await write(join(dir, "1"), { a: "x", b: "y" }));
    assert.equal(await store.put(await write(join(dir, "2"), { b: "y", a: "x" })), one);
    assert.notEqual(await store.put(await write(join(dir, "3"), { b: "y", c: "x" })), one);
    assert.notEqual(await store.put(join(dir, "1"), (path) => path !== "b"), one);
    await Deno.chmod(join(dir, "1", "a"), 0o755);
    assert.notEqual(await store.put(join(dir, "1")), one);
  }));

Deno.test("C28: a link of a git tree that leaves the root is never read, one that stays inside is", () =>
  withFolder(async (dir) => {
    await writeFile(join(dir, "secret"), "TOP");
    const source = await write(join(dir, "src"), { "chart/Chart.yaml": "c", "bin/a": "exe" });
    await symlink("../../../../etc/passwd", join(source, "chart/values.yaml"));
    await symlink("../../secret", join(source, "chart/near.yaml"));
    await symlink("/etc/passwd", join(source, "chart/absolute.yaml"));
    await symlink("loop.yaml", join(source, "chart/loop.yaml"));
    await symlink("a", join(source, "bin/b"));
    await symlink("../bin", join(source, "chart/bin"));
    const store = new DiskArtifactStore(join(dir, "data"));
    const digest = await store.put(source);
    const files = new Map((await store.files(ref(digest), "")).map((f) => [f.path, f]));
    for (const name of ["values", "near", "absolute", "loop"]) {
      const path = `chart/${name}.yaml`;
      await assert.rejects(files.get(path)!.read(), problem("Unsafe", new RegExp(`"${path}"`)));
    }
    assert.equal(await text(files.get("bin/b")!), "exe");
    assert.ok(!files.has("chart/bin"), "a link to a folder is no file");
    assert.equal(await text((await store.files(ref(digest), "chart/bin/a"))[0]!), "exe");
    await assert.rejects(store.files(ref(digest), "chart/near.yaml/x"), problem("Unsafe"));
  }));

Deno.test("DiskArtifactStore refuses a pipe and names it", () =>
  withFolder(async (dir) => {
    await mkdir(join(dir, "src"));
    await new Deno.Command("mkfifo", { args: [join(dir, "src", "pipe")] }).output();
    await assert.rejects(new DiskArtifactStore(dir).put(join(dir, "src")), problem("Unsafe", /"pipe"/));
  }));

Deno.test("DiskArtifactStore keeps to its limits", () =>
  withFolder(async (dir) => {
    const source = await write(join(dir, "src"), { a: "12345", b: "12345", c: "1" });
    const put = (limits: object) => new DiskArtifactStore(join(dir, "data"), { limits }).put(source);
    await assert.rejects(put({ fileBytes: 4 }), problem("TooLarge", /at most 4/));
    await assert.rejects(put({ totalBytes: 10 }), problem("TooLarge", /more than 10 bytes/));
    await assert.rejects(put({ entries: 2 }), problem("TooLarge", /more than 2 files/));
    await put({ fileBytes: 5, totalBytes: 11, entries: 3 });
  }));

Deno.test("DiskArtifactStore takes many puts of one digest at once", () =>
  withFolder(async (dir) => {
    const source = await write(join(dir, "src"), { a: "x", b: "y" });
    const store = new DiskArtifactStore(join(dir, "data"));
    const digests = await Promise.all(Array.from({ length: 8 }, () => store.put(source)));
    assert.equal(new Set(digests).size, 1);
    assert.equal(await text((await store.files(ref(digests[0]!), "a"))[0]!), "x");
    assert.deepEqual(await readdir(join(dir, "data/artifacts/tmp")), []);
  }));

Deno.test("DiskArtifactStore starts over what a killed process left", () =>
  withFolder(async (dir) => {
    const source = await write(join(dir, "src"), { a: "x" });
    const digest = await new DiskArtifactStore(dir).put(source);
    const aside = join(dir, "artifacts/tmp");
    await writeFile(join(aside, "4194303-half"), "ha");
    await writeFile(join(aside, `${Deno.pid}-half`), "ha");
    const store = new DiskArtifactStore(dir);
    await store.start();
    assert.deepEqual(await readdir(aside), []);
    assert.ok(await store.has(digest));
  }));

Deno.test("DiskArtifactStore notices a damaged list or file, forgets it and takes it again", () =>
  withFolder(async (dir) => {
    const source = await write(join(dir, "src"), { a: "content" });
    const digest = await new DiskArtifactStore(dir).put(source);
    const tree = join(dir, "artifacts/trees", digest.slice(7));
    await writeFile(tree, (await readFile(tree, "utf8")).replace('"a"', '"b"'));
    assert.equal(await new DiskArtifactStore(dir).has(digest), false);

    const store = new DiskArtifactStore(dir);
    await store.put(source);
    const [folder] = await readdir(join(dir, "artifacts/blobs"));
    const [blob] = await readdir(join(dir, "artifacts/blobs", folder!));
    await writeFile(join(dir, "artifacts/blobs", folder!, blob!), "CONTENT");
    const [file] = await store.files(ref(digest), "");
    await assert.rejects(file!.read(), problem("Corrupt"));
    await store.put(source);
    assert.equal(await text(file!), "content");
  }));

Deno.test("DiskArtifactStore.prune() keeps what is named and what is new, with all their files", () =>
  withFolder(async (dir) => {
    const clock = new FakeClock(Date.now());
    const store = new DiskArtifactStore(dir, { clock, graceMs: 1000 });
    const one = await store.put(await write(join(dir, "1"), { shared: "s", one: "1" }));
    const two = await store.put(await write(join(dir, "2"), { shared: "s", two: "2" }));
    await clock.advance(5000);
    const three = await store.put(await write(join(dir, "3"), { three: "3" }));
    await store.prune(new Set([two]));
    assert.deepEqual([await store.has(one), await store.has(two), await store.has(three)], [false, true, true]);
    for (const file of await store.files(ref(two), "")) await file.read();
    for (const file of await store.files(ref(three), "")) await file.read();
    const blobs = await readdir(join(dir, "artifacts/blobs"), { recursive: true, withFileTypes: true });
    assert.equal(blobs.filter((b) => b.isFile()).length, 3);
  }));

Deno.test("DiskArtifactStore says what is missing when no address is known", () =>
  withFolder(async (dir) => {
    const store = new DiskArtifactStore(dir);
    await assert.rejects(store.files(ref(`sha256:${"0".repeat(64)}`), ""), problem("NotFound", /names no address/));
    await assert.rejects(store.has("../../etc/passwd"), problem("NotFound"));
  }));

Deno.test("DiskArtifactStore.putEntries() gives the digest that put() gives for the same tree, and refuses bad paths", () =>
  withFolder(async (dir) => {
    const source = await write(join(dir, "src"), { "b/f": "x", a: "y" });
    await symlink("b/f", join(source, "l"));
    const store = new DiskArtifactStore(join(dir, "data"));
    const data = (text: string) => ({ executable: false, data: new TextEncoder().encode(text) });
    async function* entries(...more: NewEntry[]) {
      yield* [{ path: "l", link: "b/f" }, { path: "a", ...data("y") }, { path: "b/f", ...data("x") }, ...more];
    }
    assert.equal(await store.putEntries(entries()), await store.put(source));
    for (const path of ["../x", "/x", "a/x", "a", "l/x", "b//x", ""]) {
      await assert.rejects(store.putEntries(entries({ path, ...data("z") })), problem("Unsafe"));
    }
  }));
