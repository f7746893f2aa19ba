/** The key that processes show one another to get artifacts. @module */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { NAMESPACES, type Secret, SECRETS } from "../api/mod.ts";
import { hasReason, type KubeClient, type KubeObject } from "../kube/mod.ts";

/** Where it is kept. */
export const ACCESS_KEY_SECRET = { namespace: "convoy-system", name: "convoy-artifacts" };
const FIELD = "key";

/** Reads the key; undefined when the Secret is not there. */
export async function readAccessKey(client: KubeClient): Promise<string | undefined> {
  try {
    const secret = await client.get<Secret>(SECRETS, ACCESS_KEY_SECRET);
    const value = secret.data?.[FIELD];
    return value ? Buffer.from(value, "base64").toString("utf8") : undefined;
  } catch (error) {
    if (hasReason(error, "NotFound")) return undefined;
    throw error;
  }
}

/** Reads the key, and makes it (and its namespace) when it is missing; of several processes one wins. */
export async function ensureAccessKey(client: KubeClient): Promise<string> {
  const there = await readAccessKey(client);
  if (there) return there;
  await ignoreExisting(() =>
    client.create<KubeObject>(NAMESPACES, {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: ACCESS_KEY_SECRET.namespace },
    })
  );
  const secret: Secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { ...ACCESS_KEY_SECRET },
    type: "Opaque",
    data: { [FIELD]: Buffer.from(randomBytes(32).toString("hex")).toString("base64") },
  };
  await ignoreExisting(() => client.create<Secret>(SECRETS, secret));
  const made = await readAccessKey(client);
  if (!made) {
    throw new Error(
      `Cannot read the artifact key: Secret ${ACCESS_KEY_SECRET.namespace}/${ACCESS_KEY_SECRET.name} has no "${FIELD}"; delete it and it is made anew`,
    );
  }
  return made;
}

async function ignoreExisting(create: () => Promise<unknown>): Promise<void> {
  try {
    await create();
  } catch (error) {
    if (!hasReason(error, "AlreadyExists")) throw error;
  }
}

/** The key, read at most once a minute. */
export function cachedAccessKey(client: KubeClient, now: () => number): () => Promise<string | undefined> {
  let key: Promise<string | undefined> | undefined;
  let readAt = 0;
  return () => {
    if (key && now() - readAt < 60_000) return key;
    readAt = now();
    const reading = readAccessKey(client);
    key = reading;
    reading.catch(() => key = undefined);
    return reading;
  };
}
