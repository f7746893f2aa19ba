/** Knows when a Secret changes, and keeps none of their content. @module */
import { SECRETS } from "../api/mod.ts";
import { createInformer, keyOf, type KubeClient, type KubeObject, type StartableInformer } from "../kube/mod.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";

/** Watches the Secrets of the namespaces that Clusters live in, from the first question about a namespace on. */
export class SecretWatch {
  readonly #o: { client: KubeClient; clock: Clock; logger: Logger; signal: AbortSignal };
  readonly #onChange: (key: string, first: boolean) => void;
  readonly #namespaces = new Map<string, { informer: StartableInformer<KubeObject>; live: boolean }>();

  /**
   * @param onChange told `namespace/name` of a Secret that was added, changed or deleted; `first` = it was there when
   * the watch began, which is news only to those who looked for it before.
   */
  constructor(
    o: { client: KubeClient; clock: Clock; logger: Logger; signal: AbortSignal },
    onChange: (key: string, first: boolean) => void,
  ) {
    this.#o = o;
    this.#onChange = onChange;
  }

  /** Version of a Secret as the watch knows it, "" when it does not exist; undefined while the watch does not know. */
  versionOf(namespace: string, name: string): string | undefined {
    const watch = this.#watch(namespace);
    if (!watch.live || !watch.informer.synced) return undefined;
    return watch.informer.get(`${namespace}/${name}`)?.metadata.resourceVersion ?? "";
  }

  #watch(namespace: string) {
    let watch = this.#namespaces.get(namespace);
    if (watch) return watch;
    const informer = createInformer<KubeObject>({
      ...this.#o,
      resource: SECRETS,
      namespace,
      // The content is read when it is needed, and only of Secrets that a Cluster names.
      transform: ({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }) => ({
        apiVersion,
        kind,
        metadata: {
          name,
          ...(namespace ? { namespace } : {}),
          ...(uid ? { uid } : {}),
          ...(resourceVersion ? { resourceVersion } : {}),
        },
      }),
      onLive: () => watch!.live = true,
      onLost: () => watch!.live = false,
    });
    watch = { informer, live: false };
    this.#namespaces.set(namespace, watch);
    const tell = (object: KubeObject) => this.#onChange(keyOf(object), !informer.synced);
    informer.addHandler({ onAdd: tell, onUpdate: (_old, object) => tell(object), onDelete: tell });
    informer.start();
    return watch;
  }
}
