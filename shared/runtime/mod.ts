/**
 * What every process needs: clock, logger, metrics, health server, signals, roles. The files clock, logger, metrics,
 * role and backoff are leaves and may be imported directly.
 *
 * @module
 */
export * from "./clock.ts";
export * from "./logger.ts";
export type { Metrics } from "./metrics.ts";
export * from "./role.ts";
export { Backoff, backoffDelay, type BackoffOptions, retry, type RetryOptions } from "./backoff.ts";
export { createLogger, type LoggerOptions } from "./create_logger.ts";
export { createMetrics, type MetricsOptions } from "./create_metrics.ts";
export { describeError, redact, redactText } from "./redact.ts";
export { type HealthServer, type HealthServerOptions, parseListen, serveHealth } from "./serve_health.ts";
export { stopOnSignals, type StopOptions } from "./stop_signals.ts";
export { runRoles, type RunRolesOptions } from "./run_roles.ts";
