/** {@link Metrics} over prom-client, with a registry of its own. @module */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import process from "node:process";
import type { Metrics } from "./metrics.ts";

/** Seconds: from a millisecond to five minutes. */
const BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** Whether memory, CPU time and start time of the process are told too. @default true */
  process?: boolean;
}

/** Makes the metrics of a process. */
export function createMetrics(o: MetricsOptions = {}): Metrics {
  const registry = new Registry();
  if (o.process ?? true) addProcessMetrics(registry);
  const declared = <M>(name: string, labels: readonly string[], make: () => M): M => {
    const there = registry.getSingleMetric(name);
    if (!there) return make();
    const names = (there as unknown as { labelNames: string[] }).labelNames;
    if (names.join() !== [...labels].join()) {
      throw new TypeError(`Cannot declare metric "${name}" with labels [${labels}]: it has [${names}]`);
    }
    return there as M;
  };
  return {
    counter(name, help, labels = []) {
      const metric = declared(
        name,
        labels,
        () => new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
      );
      return { inc: (values = {}, by = 1) => metric.inc(values, by) };
    },
    gauge(name, help, labels = []) {
      const metric = declared(
        name,
        labels,
        () => new Gauge({ name, help, labelNames: [...labels], registers: [registry] }),
      );
      return { set: (value, values = {}) => metric.set(values, value) };
    },
    histogram(name, help, labels = [], buckets = BUCKETS) {
      const metric = declared(
        name,
        labels,
        () => new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [registry] }),
      );
      return { observe: (value, values = {}) => metric.observe(values, value) };
    },
    text: () => registry.metrics(),
  };
}

function addProcessMetrics(registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  const started = Date.now() / 1000 - process.uptime();
  gauge("process_start_time_seconds", "Start of the process since the epoch", () => started);
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage().rss);
  gauge("process_heap_bytes", "Heap in use", () => process.memoryUsage().heapUsed);
  gauge("process_cpu_seconds_total", "CPU time of user and system", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
