/** An API server of two kinds for tests of this role. @module */
import type { GitRepository, Secret } from "../../../../shared/api/mod.ts";
import { cloneJson, type JsonValue } from "../../../../shared/json/mod.ts";
import { failure, keyOf, type KubeClient } from "../../../../shared/kube/mod.ts";

/** Holds repositories and Secrets; counts status writes. */
export class FakeApi {
  readonly repositories = new Map<string, GitRepository>();
  readonly secrets = new Map<string, Secret>();
  readonly events: string[] = [];
  writes = 0;

  readonly client = {
    get: (_: unknown, key: { namespace: string; name: string }) => {
      const secret = this.secrets.get(`${key.namespace}/${key.name}`);
      return secret ? Promise.resolve(secret) : Promise.reject(failure(404, "NotFound", "not found"));
    },
    update: (_: unknown, object: GitRepository, options: Record<string, unknown>) => {
      const keys = Object.keys(options).filter((k) => k !== "signal");
      if (keys.join() !== "subresource" || options.subresource !== "status") throw new Error(`options ${keys}`);
      this.writes++;
      this.repositories.set(keyOf(object), cloneJson(object));
      return Promise.resolve(object);
    },
  } as unknown as KubeClient;

  readonly recorder = {
    event: (_: unknown, type: string, reason: string, message: string) => {
      this.events.push(`${type} ${reason} ${message}`);
    },
  };

  /** Stores a repository `t/r`; a changed spec has a new generation, as on a server. */
  put(spec: Partial<GitRepository["spec"]> & { url: string }): void {
    const old = this.repositories.get("t/r");
    this.repositories.set("t/r", {
      apiVersion: "convoy.kumodo.io/v1alpha1",
      kind: "GitRepository",
      metadata: { name: "r", namespace: "t", uid: "u", generation: (old?.metadata.generation ?? 0) + 1 },
      spec: { interval: "1m", timeout: "30s", suspend: false, ...spec },
      ...(old?.status ? { status: old.status } : {}),
    });
  }

  putSecret(name: string, values: Record<string, string>): void {
    const data = Object.fromEntries(Object.entries(values).map(([k, v]) => [k, btoa(v)]));
    this.secrets.set(`t/${name}`, { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "t" }, data });
  }

  get status(): NonNullable<GitRepository["status"]> {
    return this.repositories.get("t/r")!.status ?? {};
  }
  get ready(): { status: string; reason: string; message: string } {
    return this.status.conditions!.find((c) => c.type === "Ready")!;
  }
  /** The whole of what anybody can read, to look for secrets in. */
  get told(): string {
    return JSON.stringify([this.repositories.get("t/r") as unknown as JsonValue, this.events]);
  }
}
