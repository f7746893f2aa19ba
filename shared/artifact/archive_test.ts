import assert from "node:assert/strict";
import { packTar, type TarEntry } from "modern-tar";
import { ArtifactError, defaultLimits, packTarGz, type TreeEntry, unpackTarGz } from "./mod.ts";

async function unpack(entries: TarEntry[], options: { links?: "inside" | "any"; limits?: object } = {}) {
  const tar = await packTar(entries);
  return await unpackBytes(new Blob([tar]).stream().pipeThrough(new CompressionStream("gzip")), options);
}
async function unpackBytes(stream: ReadableStream<Uint8Array>, options: { links?: "inside" | "any"; limits?: object }) {
  const contents: string[] = [];
  const limits = { ...defaultLimits, ...options.limits };
  const sink = (_: string, data: Uint8Array) => Promise.resolve(void contents.push(new TextDecoder().decode(data)));
  const tree = await unpackTarGz(stream, sink, { limits, links: options.links ?? "inside" });
  return { tree, contents };
}
const file = (name: string, body = "x"): TarEntry => ({ header: { name, type: "file", size: body.length }, body });
const link = (name: string, linkname: string): TarEntry => ({ header: { name, type: "symlink", linkname, size: 0 } });
const hard = (name: string, linkname: string): TarEntry => ({ header: { name, type: "link", linkname, size: 0 } });
const refusal = (entry: string) => (e: unknown) =>
  e instanceof ArtifactError && e.problem === "Unsafe" && e.message.includes(`"${entry}"`);

Deno.test("C28: tar 1, a link inside the root is kept as a link", async () => {
  const { tree, contents } = await unpack([file("bin/a", "exe"), link("bin/b", "a")]);
  assert.deepEqual(tree.map((e) => [e.path, e.mode, e.link]), [["bin/a", "100644", undefined], [
    "bin/b",
    "120000",
    "a",
  ]]);
  assert.deepEqual(contents, ["exe"]);
});

Deno.test("C28: tar 2, 3 and 4 are refused by the name of the entry, and nothing is written", async () => {
  await assert.rejects(unpack([link("out", "/tmp/victim"), file("out/x")]), refusal("out"));
  await assert.rejects(unpack([link("l1", "l2"), link("l2", "../.."), file("l1/x")]), refusal("l2"));
  await assert.rejects(unpack([link("l1", "l2"), file("l1/x")]), refusal("l1/x"));
  await assert.rejects(unpack([file("../x")]), refusal("../x"));
  await assert.rejects(unpack([file("/abs")]), refusal("/abs"));
  await assert.rejects(unpack([hard("h", "../../etc/passwd")]), refusal("h"));
  await assert.rejects(unpack([file("a"), file("a")]), refusal("a"));
  await assert.rejects(unpack([file("a/../../x")]), refusal("a/../../x"));
  await assert.rejects(unpack([link("out", "/tmp"), file("out/x")], { links: "any" }), refusal("out/x"));
});

Deno.test("unpackTarGz() takes folders, ./ and hard links to earlier files", async () => {
  const { tree } = await unpack([
    { header: { name: "./", type: "directory", size: 0 } },
    { header: { name: "./a/", type: "directory", size: 0 } },
    file("./a/f", "data"),
    hard("a/g", "./a/f"),
  ]);
  assert.deepEqual(tree.map((e) => e.path), ["a/f", "a/g"]);
  assert.equal(tree[0]!.sha256, tree[1]!.sha256);
});

Deno.test("unpackTarGz() refuses devices, what is too large, and what is cut off", async () => {
  await assert.rejects(
    unpack([{ header: { name: "dev", type: "character-device", size: 0 } }]),
    refusal("dev"),
  );
  const large = (e: unknown) => e instanceof ArtifactError && e.problem === "TooLarge";
  await assert.rejects(unpack([file("a", "12345")], { limits: { fileBytes: 4 } }), large);
  await assert.rejects(unpack([file("a"), file("b")], { limits: { entries: 1 } }), large);
  const whole = new Uint8Array(
    await new Response(
      new Blob([await packTar([file("a", "x".repeat(5000))])]).stream().pipeThrough(
        new CompressionStream("gzip"),
      ),
    ).arrayBuffer(),
  );
  const corrupt = (e: unknown) => e instanceof ArtifactError && e.problem === "Corrupt";
  await assert.rejects(unpackBytes(new Blob([whole.slice(0, whole.length / 2)]).stream(), {}), corrupt);
  await assert.rejects(unpackBytes(new Blob(["no archive"]).stream(), {}), corrupt);
});

Deno.test("packTarGz() writes a tree that unpackTarGz() reads as the same, also long names and links that leave", async () => {
  const entry = (path: string, more: Partial<TreeEntry>): TreeEntry => ({
    path,
    mode: "100644",
    sha256: "",
    size: 3,
    ...more,
  });
  const entries = [
    entry(`${"long/".repeat(60)}é.yaml`, {}),
    entry("run", { mode: "100755" }),
    entry("out", { mode: "120000", link: "../../etc/passwd", size: 16 }),
  ];
  const stream = packTarGz(entries, () => Promise.resolve(new TextEncoder().encode("abc")));
  const { tree } = await unpackBytes(stream, { links: "any" });
  assert.deepEqual(tree.map((e) => ({ ...e, sha256: "" })), entries);
});
