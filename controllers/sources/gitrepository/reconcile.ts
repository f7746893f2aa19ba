/** One pass over one GitRepository: Secret, remote, artifact, status. @module */
import {
  durationMs,
  GIT_REPOSITORIES,
  type GitRepository,
  type Secret,
  SECRETS,
  type SourceStatus,
} from "../../../shared/api/mod.ts";
import { artifactPath, type ArtifactStore } from "../../../shared/artifact/mod.ts";
import { type Action, type EventRecorder, findCondition, setCondition } from "../../../shared/controller/mod.ts";
import { equalJson } from "../../../shared/json/mod.ts";
import { type Condition, hasReason, type KubeClient, StatusError } from "../../../shared/kube/mod.ts";
import { type Clock, rfc3339 } from "../../../shared/runtime/clock.ts";
import { GitFailure } from "./failure.ts";
import { diskFailure, type FetchContext, type Fetched, fetchSource } from "./fetch_source.ts";
import { FETCH_FAILED_EVENT, NEW_ARTIFACT, SUCCEEDED } from "./reasons.ts";

/** What the loop has at hand. */
export interface GitSourceDeps {
  client: KubeClient;
  artifacts: ArtifactStore;
  events: EventRecorder;
  clock: Clock;
  get(key: string): GitRepository | undefined;
  fetch: Omit<FetchContext, "artifacts">;
  /** Base address of this process's artifact endpoint. */
  artifactUrl?: string;
  /** For jitter: a number from 0 to 1. @default Math.random */
  random?: () => number;
  /** Told after the artifact of a source changed. */
  onNewArtifact?: () => void;
}

const RETRY_MS = 10_000;
const RETRY_MAX_MS = 300_000;
/** The look may take spec.timeout; the status must still be written after it. */
const LEAST_TIMEOUT_MS = 1000;

/** The reconciler of role `gitrepository`: the one writer of the kind's status, by UpdateStatus. */
export class GitSourceReconciler {
  /** Failures in a row by key; kept only while a source fails. */
  readonly #failures = new Map<string, number>();
  /** The generation that was last fetched by, so that an outage does not cost a fetch of everything after it. */
  readonly #fetchedBy = new Map<string, string>();
  readonly #deps: GitSourceDeps;

  constructor(deps: GitSourceDeps) {
    this.#deps = deps;
  }

  /** Looks once. The next look is after the interval, sooner after a failure. */
  async reconcile(key: string, signal: AbortSignal): Promise<Action> {
    const repository = this.#deps.get(key);
    if (!repository || repository.metadata.deletionTimestamp || repository.spec.suspend) {
      this.#failures.delete(key);
      if (!repository) this.#fetchedBy.delete(key);
      return { await: "change" };
    }
    const interval = Math.max(durationMs(repository.spec.interval), 1000);
    const timeout = new AbortController();
    const limit = Math.max(durationMs(repository.spec.timeout), LEAST_TIMEOUT_MS);
    const cancel = this.#deps.clock.after(limit, () => timeout.abort());
    try {
      const fetched = await this.#look(key, repository, AbortSignal.any([signal, timeout.signal]));
      this.#failures.delete(key);
      this.#fetchedBy.set(key, generationOf(repository));
      await this.#succeed(repository, fetched, signal);
      return { after: this.#jitter(interval) };
    } catch (error) {
      signal.throwIfAborted();
      const failure = timeout.signal.aborted ? timedOut(repository) : diskFailure(error);
      if (!(failure instanceof GitFailure)) throw failure;
      const failures = (this.#failures.get(key) ?? 0) + 1;
      this.#failures.set(key, failures);
      await this.#fail(repository, failure, signal);
      return { after: this.#jitter(Math.min(interval, RETRY_MS * 2 ** (failures - 1), RETRY_MAX_MS)) };
    } finally {
      cancel();
    }
  }

  async #look(key: string, repository: GitRepository, signal: AbortSignal): Promise<Fetched> {
    const { spec, status, metadata } = repository;
    const secret = spec.secretRef && await this.#secret(metadata.namespace ?? "", spec.secretRef.name, signal);
    const previous = status?.artifact && {
      revision: status.artifact.revision,
      digest: status.artifact.digest,
      sameSpec: this.#fetchedBy.get(key) === generationOf(repository) || isCurrent(repository),
    };
    return await fetchSource(spec, secret, previous, { ...this.#deps.fetch, artifacts: this.#deps.artifacts }, signal);
  }

  async #secret(namespace: string, name: string, signal: AbortSignal): Promise<Secret> {
    try {
      return await this.#deps.client.get<Secret>(SECRETS, { namespace, name }, { signal });
    } catch (error) {
      if (!hasReason(error, "NotFound")) throw error;
      const mend = "create it or mend spec.secretRef.name";
      throw new GitFailure("SecretMissing", `Cannot read Secret ${namespace}/${name}: it does not exist; ${mend}`);
    }
  }

  async #succeed(repository: GitRepository, fetched: Fetched, signal: AbortSignal): Promise<void> {
    const { events, clock, artifactUrl } = this.#deps;
    const old = repository.status?.artifact;
    const url = artifactUrl ? artifactUrl.replace(/\/$/, "") + artifactPath(fetched.digest) : undefined;
    const same = old !== undefined && old.digest === fetched.digest && old.revision === fetched.revision;
    const now = rfc3339(clock.now());
    const artifact = {
      digest: fetched.digest,
      revision: fetched.revision,
      lastUpdateTime: same ? old.lastUpdateTime : now,
      ...(url ? { url } : {}),
    };
    const status: SourceStatus = {
      ...repository.status,
      artifact,
      ...(same ? {} : { lastFetchTime: now }),
    };
    if (fetched.ref) status.observedRef = fetched.ref;
    else delete status.observedRef;
    const message = `Fetched ${fetched.revision}`;
    const written = await this.#write(repository, status, { status: "True", reason: SUCCEEDED, message }, signal);
    if (!written || same) return;
    if (fetched.oddity) events.event(repository, "Warning", fetched.oddity.reason, fetched.oddity.message);
    events.event(repository, "Normal", NEW_ARTIFACT, message);
    this.#deps.onNewArtifact?.();
  }

  async #fail(repository: GitRepository, failure: GitFailure, signal: AbortSignal): Promise<void> {
    const condition = { status: "False" as const, reason: failure.reason, message: failure.message };
    const before = findCondition(conditionsOf(repository), "Ready");
    await this.#write(repository, { ...repository.status }, condition, signal);
    if (before?.reason !== failure.reason || before.message !== failure.message) {
      this.#deps.events.event(repository, "Warning", FETCH_FAILED_EVENT, failure.message);
    }
  }

  /** UpdateStatus, when anything differs. A newer object is left to the next pass, which its change has woken. */
  async #write(
    repository: GitRepository,
    status: SourceStatus,
    ready: { status: "True" | "False"; reason: string; message: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const observedGeneration = repository.metadata.generation ?? 0;
    const conditions = setCondition(
      conditionsOf(repository),
      { type: "Ready", ...ready, observedGeneration },
      this.#deps.clock.now(),
    );
    const next: SourceStatus = { ...status, observedGeneration, conditions };
    if (equalJson(next, repository.status)) return false;
    try {
      await this.#deps.client.update<GitRepository>(
        GIT_REPOSITORIES,
        { ...repository, status: next },
        { subresource: "status", signal },
      );
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.reason === "NotFound") return false;
      throw error;
    }
  }

  #jitter(ms: number): number {
    return Math.round(ms * (0.95 + 0.1 * (this.#deps.random ?? Math.random)()));
  }
}

function generationOf({ metadata }: GitRepository): string {
  return `${metadata.uid}/${metadata.generation}`;
}

/** Whether the artifact in the status was made by the spec as it is. */
function isCurrent(repository: GitRepository): boolean {
  const ready = findCondition(conditionsOf(repository), "Ready");
  return ready?.status === "True" && ready.observedGeneration === repository.metadata.generation;
}

function conditionsOf(repository: GitRepository): Condition[] | undefined {
  return repository.status?.conditions as Condition[] | undefined;
}

function timedOut(repository: GitRepository): GitFailure {
  const { timeout } = repository.spec;
  return new GitFailure(
    "Timeout",
    `Cannot fetch: it took longer than spec.timeout (${timeout}); raise it or check the network`,
  );
}
