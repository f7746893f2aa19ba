/** A kind that a server does not have: there are no objects of it, which is a truth like others. @module */
import {
  failure,
  hasReason,
  type KubeClient,
  type KubeList,
  type KubeObject,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from "../kube/mod.ts";
import { type Clock, sleep } from "../runtime/clock.ts";

/** How long until the server is asked again whether it has the kind, ms. */
const ASK_AGAIN_MS = 30_000;

/**
 * A client for a reflector on which a resource that is not served (404) is an empty one. A server that is starting says
 * 503, not 404, so nothing is taken for deleted by mistake. The watch of such a resource ends with 410 after a time, so
 * that the reflector asks for the whole truth again.
 */
export function emptyWhenUnserved(client: KubeClient, clock: Clock): KubeClient {
  return {
    ...client,
    async list<T extends KubeObject>(r: Resource, options?: Parameters<KubeClient["list"]>[1]) {
      try {
        return await client.list<T>(r, options);
      } catch (error) {
        if (!hasReason(error, "NotFound")) throw error;
        return { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "" }, items: [] } as KubeList<T>;
      }
    },
    async watch<T extends KubeObject>(r: Resource, options: WatchOptions = {}) {
      try {
        return await client.watch<T>(r, options);
      } catch (error) {
        if (!hasReason(error, "NotFound")) throw error;
        // It was there before: what was seen of it is gone.
        if (!options.sendInitialEvents && options.resourceVersion) throw expired(r);
        return nothing<T>(r, options, clock);
      }
    },
  };
}

function expired(r: Resource): Error {
  return failure(410, "Expired", `The server does not serve ${r.plural} any more`);
}

async function* nothing<T extends KubeObject>(
  r: Resource,
  options: WatchOptions,
  clock: Clock,
): AsyncIterable<WatchEvent<T>> {
  if (options.sendInitialEvents) {
    const annotations = { "k8s.io/initial-events-end": "true" };
    yield { type: "BOOKMARK", object: { apiVersion: "v1", kind: r.kind, metadata: { name: "", annotations } } };
  }
  await sleep(clock, ASK_AGAIN_MS, options.signal);
  throw expired(r);
}
