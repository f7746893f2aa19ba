/** The metrics of a process, behind one interface over prom-client. Names start with `convoy_`. @module */

/** Declares and moves metrics. Declaring a name twice gives the same metric. Durations are in seconds. */
export interface Metrics {
  counter(
    name: string,
    help: string,
    labels?: readonly string[],
  ): { inc(labels?: Record<string, string>, by?: number): void };
  gauge(name: string, help: string, labels?: readonly string[]): {
    set(value: number, labels?: Record<string, string>): void;
  };
  histogram(name: string, help: string, labels?: readonly string[], buckets?: readonly number[]): {
    observe(value: number, labels?: Record<string, string>): void;
  };
  /** The Prometheus text exposition. */
  text(): Promise<string>;
}
