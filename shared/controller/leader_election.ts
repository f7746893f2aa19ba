/** Leader election on a Lease, with client-go's meaning of the times, so that both kinds of candidates may meet. @module */
import { type Clock, sleep } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import type { KubeClient } from "../kube/contract.ts";
import { hasReason } from "../kube/status.ts";
import { type Lease, LEASES } from "./resources.ts";

/** Options of {@link runLeaderElection}. */
export interface LeaderElectionOptions {
  client: KubeClient;
  clock: Clock;
  logger: Logger;
  /** The Lease. */
  namespace: string;
  name: string;
  /** This candidate; unique among the processes. */
  identity: string;
  /** Ends the candidacy. */
  signal: AbortSignal;
  /** Runs while this candidate leads; its signal is aborted when the lead is lost or at the end. */
  lead(signal: AbortSignal): Promise<void>;
  /** Others wait so long after the last renewal that they saw, ms. @default 15_000 */
  leaseDurationMs?: number;
  /** A leader that cannot renew for so long gives up, ms; below `leaseDurationMs`. @default 10_000 */
  renewDeadlineMs?: number;
  /** Time between two tries, ms. @default 2_000 */
  retryPeriodMs?: number;
  /** In [0, 1). @default Math.random */
  random?: () => number;
}

/** The lead was lost: someone else has it, or it could not be renewed in time. */
export class LeadLostError extends Error {
  override readonly name = "LeadLostError";
}

/**
 * Candidates until the signal is aborted: waits for the lead, runs `lead`, and when the lead is lost aborts it, waits
 * for its end and candidates again. At a clean stop the Lease is released after the work has ended, so that another
 * need not wait for it to run out.
 */
export async function runLeaderElection(o: LeaderElectionOptions): Promise<void> {
  const candidate = new Candidate(o);
  const logger = o.logger.with({ lease: `${o.namespace}/${o.name}`, identity: o.identity });
  while (!o.signal.aborted) {
    try {
      await candidate.acquire();
    } catch {
      break;
    }
    logger.info("Leading");
    await term(o, candidate, logger);
  }
  await candidate.release();
}

/** One time in the lead. */
async function term(o: LeaderElectionOptions, candidate: Candidate, logger: Logger): Promise<void> {
  const abort = new AbortController();
  const onStop = () => abort.abort(o.signal.reason);
  o.signal.addEventListener("abort", onStop, { once: true });
  if (o.signal.aborted) onStop();
  // Renewed until the work has ended: work that is being wound up still needs the lead.
  const ended = new AbortController();
  const renewing = candidate.renew(ended.signal).catch((error) => {
    logger.error("Lead lost", error);
    abort.abort(error);
  });
  try {
    await o.lead(abort.signal);
    // Work that ends by itself keeps the lead: starting it again at another place would be no better.
    if (!abort.signal.aborted) await new Promise((resolve) => abort.signal.addEventListener("abort", resolve));
  } catch (error) {
    if (!abort.signal.aborted) logger.error("Leader's work failed", error);
  }
  ended.abort();
  await renewing;
  o.signal.removeEventListener("abort", onStop);
}

class Candidate {
  readonly #o: LeaderElectionOptions;
  readonly #leaseMs: number;
  readonly #retryMs: number;
  /** The last record seen and when it was first seen by our own clock: other machines' clocks do not count. */
  #seen = "";
  #seenAt = 0;
  #held = false;

  constructor(o: LeaderElectionOptions) {
    this.#o = o;
    this.#leaseMs = o.leaseDurationMs ?? 15_000;
    this.#retryMs = o.retryPeriodMs ?? 2_000;
    if ((o.renewDeadlineMs ?? 10_000) >= this.#leaseMs) {
      throw new RangeError("Cannot elect a leader: renewDeadlineMs must be below leaseDurationMs");
    }
  }

  /** Resolves when this candidate leads; rejects when the signal is aborted. */
  async acquire(): Promise<void> {
    const { clock, signal, logger, random = Math.random } = this.#o;
    for (;;) {
      signal.throwIfAborted();
      try {
        if (await this.#try(signal)) return;
      } catch (error) {
        if (signal.aborted) throw error;
        logger.debug("Lease not acquired", { error: error instanceof Error ? error.message : String(error) });
      }
      await sleep(clock, this.#retryMs * (1 + 0.2 * random()), signal);
    }
  }

  /** Renews until the signal is aborted; throws LeadLostError when the lead is lost. */
  async renew(signal: AbortSignal): Promise<void> {
    const { clock, renewDeadlineMs = 10_000 } = this.#o;
    let renewedAt = clock.now();
    while (!signal.aborted) {
      try {
        await sleep(clock, this.#retryMs, signal);
      } catch {
        return;
      }
      const attempt = new AbortController();
      const onAbort = () => attempt.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      const cancel = clock.after(
        Math.max(0, renewedAt + renewDeadlineMs - clock.now()),
        () => attempt.abort(new LeadLostError("The lease could not be renewed in time")),
      );
      let failure: unknown;
      try {
        if (!await this.#try(attempt.signal)) {
          this.#held = false;
          throw new LeadLostError(`The lease is held by someone else`);
        }
        renewedAt = clock.now();
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof LeadLostError) throw error;
        failure = error;
      } finally {
        cancel();
        signal.removeEventListener("abort", onAbort);
      }
      if (clock.now() - renewedAt >= renewDeadlineMs) {
        throw new LeadLostError("The lease could not be renewed in time", { cause: failure });
      }
    }
  }

  /** Gives the Lease back when it is ours. Failures do not matter: it runs out by itself. */
  async release(): Promise<void> {
    if (!this.#held) return;
    this.#held = false;
    const { client, clock, namespace, name, identity } = this.#o;
    const abort = new AbortController();
    const cancel = clock.after(2_000, () => abort.abort(new Error("Releasing the lease took too long")));
    try {
      const lease = await client.get<Lease>(LEASES, { namespace, name }, { signal: abort.signal });
      if (lease.spec?.holderIdentity !== identity) return;
      const now = microTime(clock.now());
      lease.spec = { ...lease.spec, holderIdentity: "", leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
      await client.update(LEASES, lease, { signal: abort.signal });
    } catch {
      // See above.
    } finally {
      cancel();
    }
  }

  /** One try to take or renew the Lease; false when someone else holds it. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const { client, clock, namespace, name, identity } = this.#o;
    const now = clock.now();
    const mine = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(this.#leaseMs / 1000),
      acquireTime: microTime(now),
      renewTime: microTime(now),
      leaseTransitions: 0,
    };
    let lease: Lease;
    try {
      lease = await client.get<Lease>(LEASES, { namespace, name }, { signal });
    } catch (error) {
      if (!hasReason(error, "NotFound")) throw error;
      lease = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { namespace, name }, spec: mine };
      this.#observe(await client.create(LEASES, lease, { signal }));
      return this.#held = true;
    }
    this.#observe(lease);
    const holder = lease.spec?.holderIdentity ?? "";
    if (holder !== identity && holder !== "" && this.#seenAt + this.#leaseMs > now) return false;
    const transitions = lease.spec?.leaseTransitions ?? 0;
    lease.spec = holder === identity
      ? { ...mine, acquireTime: lease.spec?.acquireTime ?? mine.acquireTime, leaseTransitions: transitions }
      : { ...mine, leaseTransitions: transitions + 1 };
    // The resourceVersion of what was read makes two candidates' writes exclude each other.
    this.#observe(await client.update(LEASES, lease, { signal }));
    return this.#held = true;
  }

  #observe(lease: Lease): void {
    const record = JSON.stringify(lease.spec ?? {});
    if (record === this.#seen) return;
    this.#seen = record;
    this.#seenAt = this.#o.clock.now();
  }
}

/** metav1.MicroTime. */
function microTime(ms: number): string {
  return new Date(ms).toISOString().replace("Z", "000Z");
}
