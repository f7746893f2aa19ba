/** All target clusters of a process. @module */
import { type Cluster, CLUSTERS } from "../api/mod.ts";
import { type InformerFactory, keyOf, type KubeObject } from "../kube/mod.ts";
import type { Logger } from "../runtime/logger.ts";
import type { ConnectionOptions } from "./connection.ts";
import { clusterName } from "./connection.ts";
import { TargetError, type Targets } from "./contract.ts";
import { SecretWatch } from "./secret_watch.ts";
import { ClusterTarget, type TargetOptions } from "./target.ts";

/** Options of {@link createTargets}. */
export interface TargetsOptions
  extends ConnectionOptions, Partial<Pick<TargetOptions, "maxInFlight" | "idleMs" | "lostGraceMs">> {
  informers: InformerFactory;
  logger: Logger;
  /** Ends all targets. */
  signal: AbortSignal;
}

/** Makes the targets; a connection is made at the first use of each. */
export function createTargets(o: TargetsOptions): Targets {
  const informer = o.informers.for<Cluster>(CLUSTERS);
  const targets = new Map<string, ClusterTarget>();
  const handlers = new Set<(key: string, reachable: boolean) => void>();
  const gauge = o.metrics?.gauge("convoy_target_reachable", "1 while a cluster answers", ["cluster"]);
  const abort = new AbortController();
  const onStop = () => close();
  o.signal.addEventListener("abort", onStop, { once: true });

  const tell = (key: string, reachable: boolean) => {
    gauge?.set(reachable ? 1 : 0, { cluster: key });
    for (const handler of [...handlers]) {
      try {
        handler(key, reachable);
      } catch (error) {
        o.logger.error("Handler of target changes failed", error, { cluster: key });
      }
    }
  };
  const secrets = new SecretWatch({ ...o, signal: abort.signal }, (secretKey, first) => {
    for (const target of targets.values()) {
      if (target.usesSecret(secretKey) && !(first && target.reachable)) tell(target.key, true);
    }
  });
  const drop = (key: string) => {
    targets.get(key)?.close(new TargetError("ClusterNotFound", `${clusterName(key)} does not exist`));
    targets.delete(key);
  };
  const removeHandler = informer.addHandler({
    onAdd: (cluster) => tell(keyOf(cluster), true),
    onUpdate(old, cluster) {
      if (old.metadata.generation === cluster.metadata.generation) return;
      const key = keyOf(cluster);
      if (cluster.spec.suspend) targets.get(key)?.disconnect();
      tell(key, !cluster.spec.suspend && (targets.get(key)?.reachable ?? true));
    },
    onDelete(cluster) {
      drop(keyOf(cluster));
      tell(keyOf(cluster), false);
    },
  });

  function targetOf(key: string): ClusterTarget {
    let target = targets.get(key);
    if (!target) {
      target = new ClusterTarget(key, {
        ...o,
        logger: o.logger.with({ cluster: key }),
        secrets,
        cluster: () => informer.get(key),
        onReachable(reachable) {
          if (reachable) o.logger.info("Cluster answers again", { cluster: key });
          else o.logger.info("Cluster does not answer", { cluster: key });
          tell(key, reachable);
        },
      });
      targets.set(key, target);
    }
    return target;
  }

  function close(): void {
    o.signal.removeEventListener("abort", onStop);
    removeHandler();
    abort.abort(new DOMException("The targets were closed", "AbortError"));
    for (const target of targets.values()) {
      target.close(new TargetError("ClusterUnreachable", `${target.name}: Convoy is stopping`));
    }
    targets.clear();
    handlers.clear();
  }

  return {
    async get(namespace, cluster) {
      const key = `${namespace}/${cluster}`;
      abort.signal.throwIfAborted();
      if (!informer.synced) await informer.whenSynced(o.signal);
      if (!informer.get(key)) {
        throw new TargetError("ClusterNotFound", `${clusterName(key)} does not exist; create it, or correct the name`);
      }
      const target = targetOf(key);
      await target.current();
      return target;
    },
    onChange(handler) {
      const own = (key: string, reachable: boolean) => handler(key, reachable);
      handlers.add(own);
      return () => void handlers.delete(own);
    },
    async probe(object: KubeObject) {
      const cluster = object as Cluster;
      const key = keyOf(cluster);
      if (cluster.spec.suspend) throw new TargetError("Suspended", `${clusterName(key)} is suspended`);
      return await targetOf(key).probe(cluster);
    },
    close,
  };
}
