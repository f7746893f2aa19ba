/** A client whose calls go through a breaker and a budget. @module */
import { type KubeClient, TransportError } from "../kube/contract.ts";
import { StatusError } from "../kube/status.ts";
import type { CircuitBreaker } from "./breaker.ts";
import { TargetError } from "./contract.ts";
import type { Semaphore } from "./semaphore.ts";

/** Options of {@link guardedClient}. */
export interface GuardOptions {
  /** Name for messages: `Cluster fleet/prod`. */
  name: string;
  breaker: CircuitBreaker;
  budget: Semaphore;
  /** The client of the current connection. @throws TargetError */
  current(): Promise<KubeClient>;
  /** The server refused the credentials. */
  onUnauthorized(): void;
}

/**
 * The client. While the breaker is open its calls fail at once with `TargetError(ClusterUnreachable)`; a call without an
 * answer fails with the same. Watches take no place of the budget. `close` does nothing: the connection is shared.
 */
export function guardedClient(o: GuardOptions): KubeClient {
  async function guarded<T>(
    call: (client: KubeClient) => Promise<T>,
    signal: AbortSignal | undefined,
    watch = false,
  ): Promise<T> {
    const client = await o.current();
    refuseIfOpen(o);
    const release = watch ? () => {} : await o.budget.acquire(signal);
    try {
      refuseIfOpen(o);
      const result = await call(client);
      o.breaker.success();
      return result;
    } catch (error) {
      throw judge(o, error, signal);
    } finally {
      release();
    }
  }
  return {
    get: (r, key, options) => guarded((c) => c.get(r, key, options), options?.signal),
    list: (r, options) => guarded((c) => c.list(r, options), options?.signal),
    watch: (r, options) => guarded((c) => c.watch(r, options), options?.signal, true),
    create: (r, object, options) => guarded((c) => c.create(r, object, options), options?.signal),
    update: (r, object, options) => guarded((c) => c.update(r, object, options), options?.signal),
    patch: (r, key, patch, options) => guarded((c) => c.patch(r, key, patch, options), options?.signal),
    apply: (r, object, options) => guarded((c) => c.apply(r, object, options), options.signal),
    delete: (r, key, options) => guarded((c) => c.delete(r, key, options), options?.signal),
    raw: (request) => guarded((c) => c.raw(request), request.signal),
    close() {},
  };
}

/** @throws TargetError while the breaker is open. */
function refuseIfOpen({ breaker, name }: Pick<GuardOptions, "breaker" | "name">): void {
  if (breaker.open) throw unreachable(name, breaker.lastError, Math.ceil(breaker.retryInMs / 1000));
}

/** The error for a cluster that does not answer. */
export function unreachable(name: string, cause: Error | undefined, retryInSeconds?: number): TargetError {
  const next = retryInSeconds === undefined ? "" : ` (next try in ${retryInSeconds} s)`;
  return new TargetError("ClusterUnreachable", `${name} cannot be reached: ${cause?.message ?? "no answer"}${next}`, {
    cause,
  });
}

/** Tells the breaker what an error says about the cluster; returns the error for the caller. */
export function judge(
  o: Pick<GuardOptions, "breaker" | "name" | "onUnauthorized">,
  error: unknown,
  signal?: AbortSignal,
): unknown {
  if (error instanceof TargetError || signal?.aborted) return error;
  if (error instanceof TransportError) {
    o.breaker.failure(error);
    return unreachable(o.name, error);
  }
  if (!(error instanceof StatusError)) return error;
  if (isFromProxy(error)) {
    o.breaker.failure(error);
    return unreachable(o.name, error);
  }
  o.breaker.success();
  if (error.code === 401) o.onUnauthorized();
  return error;
}

/** A gateway answered in place of the API server. */
function isFromProxy(error: StatusError): boolean {
  return [502, 503, 504].includes(error.code) &&
    error.status.details?.causes?.some((cause) => cause.reason === "UnexpectedServerResponse") === true;
}
