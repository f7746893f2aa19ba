/** Runs the roles of a process: each on its own feet, each group under one Lease when asked for. @module */
import { runLeaderElection } from "../controller/mod.ts";
import { Backoff, type BackoffOptions } from "./backoff.ts";
import { sleep } from "./clock.ts";
import type { Role, RoleContext } from "./role.ts";

/** Options of {@link runRoles}. */
export interface RunRolesOptions {
  /** Roles of a group run only while this process holds the Lease `convoy-GROUP` of the namespace. @default off */
  leaderElect?: { namespace: string; leaseDurationMs?: number; renewDeadlineMs?: number; retryPeriodMs?: number };
  /** Delays before a role that crashed is started again. @default 1 s to 1 min */
  backoff?: BackoffOptions;
}

/** A role that ran this long without a crash is forgiven its earlier ones, ms. */
const STABLE_MS = 60_000;

/**
 * Runs roles until the signal of `parts` is aborted and all have ended. A role that crashes is logged and started again
 * after a backoff; the others do not notice. Never throws.
 */
export async function runRoles(roles: readonly Role[], parts: RoleContext, o: RunRolesOptions = {}): Promise<void> {
  const gauge = parts.metrics.gauge("convoy_role_running", "1 while a role runs in this process", ["role"]);
  const crashes = parts.metrics.counter("convoy_role_crashes_total", "Crashes of a role", ["role"]);

  async function keepRunning(role: Role, signal: AbortSignal): Promise<void> {
    const logger = parts.logger.with({ role: role.name });
    const backoff = new Backoff({ minMs: 1_000, maxMs: 60_000, ...o.backoff });
    while (!signal.aborted) {
      const started = parts.clock.now();
      // A signal for each start, so that what a crashed run left behind ends with it.
      const run = new AbortController();
      const onAbort = () => run.abort(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
      gauge.set(1, { role: role.name });
      try {
        await role.run({ ...parts, logger, signal: run.signal });
        if (!signal.aborted) throw new Error("The role ended although nobody told it to");
      } catch (error) {
        if (signal.aborted) break;
        crashes.inc({ role: role.name });
        if (parts.clock.now() - started >= STABLE_MS) backoff.reset();
        const restartMs = Math.round(backoff.next());
        logger.error("Role crashed", error, { restartMs });
        gauge.set(0, { role: role.name });
        run.abort(error);
        await sleep(parts.clock, restartMs, signal).catch(() => {});
      } finally {
        signal.removeEventListener("abort", onAbort);
      }
    }
    gauge.set(0, { role: role.name });
  }

  const all = (some: readonly Role[], signal: AbortSignal) =>
    Promise.all(some.map((role) => keepRunning(role, signal))).then(() => {});

  if (!o.leaderElect) return await all(roles, parts.signal);
  const groups = Map.groupBy(roles, (role) => role.group);
  await Promise.all([...groups].map(([group, members]) =>
    runLeaderElection({
      ...o.leaderElect!,
      client: parts.client,
      clock: parts.clock,
      logger: parts.logger,
      name: `convoy-${group}`,
      identity: parts.options.identity,
      signal: parts.signal,
      lead: (signal) => all(members, signal),
    })
  ));
}
