/**
 * Renders in the API server: immutable, named by digest, in chunks. Chunk 0 is written last and read first, so a half
 * written set is never seen, and the next put of the same render completes it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { API_VERSION, type Release, type Render, RENDERS } from "../api/mod.ts";
import { canonicalJson, parseJson } from "../json/mod.ts";
import { deepFreeze, hasReason, type KubeClient, type OwnerReference, type Unstructured } from "../kube/mod.ts";

/** Characters of data in one chunk: with the rest of the object below etcd's 1.5 MiB, and its JSON below 1 MiB. */
export const CHUNK_CHARACTERS = 700 * 1024;
/** Bytes that a stored render may unpack to. */
const MAX_BYTES = 256 * 2 ** 20;
/** Bytes (before compression) of the renders that are kept parsed for one API server. */
const CACHE_BYTES = 32 * 2 ** 20;

/** A stored render. The objects are shared and frozen. */
export interface StoredRender {
  objects: readonly Unstructured[];
  release: string;
  revision: string;
}

/** A render cannot be read. `NotFound`: it is not there, or not whole yet; `Damaged`: its content is not its digest. */
export class RenderStoreError extends Error {
  override readonly name = "RenderStoreError";
  constructor(readonly problem: "NotFound" | "Damaged", message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Names a render: the same objects of the same Release have the same name. */
export function renderRefOf(release: { namespace: string; name: string }, objects: readonly Unstructured[]): string {
  return refOfText(release, canonicalJson(objects));
}

function refOfText(release: { namespace: string; name: string }, text: string): string {
  const hash = createHash("sha256").update(`{"objects":`).update(text);
  hash.update(`,"release":${JSON.stringify(`${release.namespace}/${release.name}`)}}`);
  return `sha256-${hash.digest("hex")}`;
}

/**
 * Stores a render; one that is there already costs a read and no write. Its owner is the Release.
 * @returns its name, its size in bytes before compression, and the number of objects
 */
export async function putRender(
  client: KubeClient,
  release: Pick<Release, "metadata">,
  revision: string,
  objects: readonly Unstructured[],
): Promise<{ renderRef: string; size: number; objects: number }> {
  const namespace = release.metadata.namespace ?? "";
  const text = canonicalJson(objects);
  const renderRef = refOfText({ namespace, name: release.metadata.name }, text);
  const size = Buffer.byteLength(text);
  const result = { renderRef, size, objects: objects.length };
  const owner = ownerOf(release);
  const there = await find(client, namespace, renderRef);
  if (there) {
    await adopt(client, there, owner);
    return result;
  }
  const data = (await promisify(gzip)(text)).toString("base64");
  const chunks = Math.max(1, Math.ceil(data.length / CHUNK_CHARACTERS));
  for (let chunk = chunks - 1; chunk >= 0; chunk--) {
    const render: Render = {
      apiVersion: API_VERSION,
      kind: "Render",
      metadata: { name: chunkName(renderRef, chunk), namespace, ownerReferences: [owner] },
      spec: {
        release: release.metadata.name,
        revision,
        digest: renderRef,
        encoding: "gzip+base64",
        objects: objects.length,
        size,
        chunk,
        chunks,
        data: data.slice(chunk * CHUNK_CHARACTERS, (chunk + 1) * CHUNK_CHARACTERS),
      },
    };
    await createOrAdopt(client, render, owner);
  }
  return result;
}

function chunkName(renderRef: string, chunk: number): string {
  return chunk === 0 ? renderRef : `${renderRef}.${chunk}`;
}

function ownerOf(release: Pick<Release, "metadata">): OwnerReference {
  return { apiVersion: API_VERSION, kind: "Release", name: release.metadata.name, uid: release.metadata.uid ?? "" };
}

async function find(client: KubeClient, namespace: string, name: string): Promise<Render | undefined> {
  try {
    return await client.get<Render>(RENDERS, { namespace, name });
  } catch (error) {
    if (hasReason(error, "NotFound")) return undefined;
    throw error;
  }
}

async function createOrAdopt(client: KubeClient, render: Render, owner: OwnerReference): Promise<void> {
  try {
    await client.create<Render>(RENDERS, render);
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
    const there = await find(client, render.metadata.namespace ?? "", render.metadata.name);
    if (there) await adopt(client, there, owner, false);
  }
}

/** A Release that was deleted and made anew finds renders whose owner is gone; they would be collected with it. */
async function adopt(client: KubeClient, render: Render, owner: OwnerReference, all = true): Promise<void> {
  if (render.metadata.ownerReferences?.some((o) => o.uid === owner.uid)) return;
  const last = all ? render.spec.chunks - 1 : render.spec.chunk;
  for (let chunk = last; chunk >= (all ? 0 : render.spec.chunk); chunk--) {
    const key = { namespace: render.metadata.namespace ?? "", name: chunkName(render.spec.digest, chunk) };
    await client.patch(RENDERS, key, { type: "merge", body: { metadata: { ownerReferences: [owner] } } });
  }
}

const caches = new WeakMap<KubeClient, LRUCache<string, StoredRender>>();
const reading = new WeakMap<KubeClient, Map<string, Promise<StoredRender>>>();

/**
 * Reads a render and checks it against its name. Parsed renders are kept, up to a size, for each client.
 * @throws RenderStoreError, or the StatusError of the API server
 */
export async function getRender(client: KubeClient, namespace: string, renderRef: string): Promise<StoredRender> {
  const cache = caches.get(client) ?? new LRUCache({ max: 4096, maxSize: CACHE_BYTES });
  caches.set(client, cache);
  const key = `${namespace}/${renderRef}`;
  const cached = cache.get(key);
  if (cached) return cached;
  const running = reading.get(client) ?? new Map<string, Promise<StoredRender>>();
  reading.set(client, running);
  let read = running.get(key);
  if (!read) {
    read = readRender(client, namespace, renderRef).then(({ size, ...render }) => {
      cache.set(key, render, { size: Math.max(1, size) });
      return render;
    }).finally(() => running.delete(key));
    running.set(key, read);
  }
  return await read;
}

async function readRender(
  client: KubeClient,
  namespace: string,
  renderRef: string,
): Promise<StoredRender & { size: number }> {
  const first = await find(client, namespace, renderRef);
  if (!first) {
    throw new RenderStoreError("NotFound", `Cannot read the render ${renderRef}: it is not stored in ${namespace}`);
  }
  const parts = [first.spec.data];
  for (let chunk = 1; chunk < first.spec.chunks; chunk++) {
    const next = await find(client, namespace, chunkName(renderRef, chunk));
    if (!next) throw damaged(renderRef, `its chunk ${chunk} of ${first.spec.chunks} is gone`);
    parts.push(next.spec.data);
  }
  let text: string;
  try {
    const limit = Math.min(MAX_BYTES, first.spec.size + 1);
    text = (await promisify(gunzip)(Buffer.from(parts.join(""), "base64"), { maxOutputLength: limit })).toString(
      "utf8",
    );
  } catch (error) {
    throw damaged(renderRef, "its data cannot be unpacked", { cause: error });
  }
  if (refOfText({ namespace, name: first.spec.release }, text) !== renderRef) {
    throw damaged(renderRef, "its data is not what its name says");
  }
  const objects = deepFreeze(parseJson(text)) as unknown as Unstructured[];
  return { objects, release: first.spec.release, revision: first.spec.revision, size: first.spec.size };
}

function damaged(renderRef: string, why: string, options?: ErrorOptions): RenderStoreError {
  const mend = "delete the Render and request a sync of its Release";
  return new RenderStoreError("Damaged", `Cannot read the render ${renderRef}: ${why}; ${mend}`, options);
}
