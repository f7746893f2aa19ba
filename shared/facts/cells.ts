/** Cells of `kubectl get` that need more than a path. @module */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import { asObject, numberIn, objectAt, objectsIn, stringIn } from "./fields.ts";

/** A duration as kubectl writes it: `5s`, `3m20s`, `4h`, `2d`. `ms` < 0 counts as 0. */
export function humanDuration(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 120) return `${s}s`;
  const m = Math.floor(s / 60);
  if (m < 10) return s % 60 === 0 ? `${m}m` : `${m}m${s % 60}s`;
  if (m < 180) return `${m}m`;
  const h = Math.floor(m / 60);
  if (h < 8) return m % 60 === 0 ? `${h}h` : `${h}h${m % 60}m`;
  if (h < 48) return `${h}h`;
  const d = Math.floor(h / 24);
  if (d < 8) return h % 24 === 0 ? `${d}d` : `${d}d${h % 24}h`;
  if (d < 730) return `${d}d`;
  const y = Math.floor(d / 365);
  return y < 8 && d % 365 !== 0 ? `${y}y${d % 365}d` : `${y}y`;
}

/** Time since a timestamp; `<unknown>` when it is none. */
export function since(time: JsonValue | undefined, now: number): string {
  const at = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(at) ? "<unknown>" : humanDuration(now - at);
}

/** A LabelSelector or a map of labels as text. */
export function selectorText(selector: JsonObject | undefined): string {
  if (!selector) return "<none>";
  const labels = asObject(selector["matchLabels"]) ??
    (Array.isArray(selector["matchExpressions"]) ? {} : selector);
  const parts = Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1).map(([k, v]) => `${k}=${v}`);
  for (const e of objectsIn(selector, "matchExpressions")) {
    const values = Array.isArray(e["values"]) ? e["values"].map(String).sort().join(",") : "";
    const key = stringIn(e, "key");
    switch (e["operator"]) {
      case "In":
        parts.push(`${key} in (${values})`);
        break;
      case "NotIn":
        parts.push(`${key} notin (${values})`);
        break;
      case "Exists":
        parts.push(key);
        break;
      default:
        parts.push(`!${key}`);
    }
  }
  return parts.join(",") || "<none>";
}

/** `1/2`: ready of all containers. */
export function podReady(o: JsonObject): string {
  const all = objectsIn(objectAt(o, "spec"), "containers").length;
  const ready = objectsIn(objectAt(o, "status"), "containerStatuses").filter((c) => c["ready"] === true).length;
  return `${ready}/${all}`;
}

/** Phase, or the reason that a container waits or ended for. */
export function podStatus(o: JsonObject): string {
  const status = objectAt(o, "status");
  let reason = stringIn(status, "reason") || stringIn(status, "phase");
  for (const c of objectsIn(status, "containerStatuses")) {
    const waiting = stringIn(objectAt(c, "state", "waiting"), "reason");
    const ended = stringIn(objectAt(c, "state", "terminated"), "reason");
    if (waiting || ended) reason = waiting || ended;
  }
  return objectAt(o, "metadata")?.["deletionTimestamp"] ? "Terminating" : reason;
}

/** Restarts of all containers. */
export function podRestarts(o: JsonObject): string {
  const n = objectsIn(objectAt(o, "status"), "containerStatuses").reduce((s, c) => s + numberIn(c, "restartCount"), 0);
  return String(n);
}

/** External address of a Service. */
export function loadBalancerAddress(o: JsonObject): string {
  const spec = objectAt(o, "spec");
  const type = stringIn(spec, "type");
  if (type === "ExternalName") return stringIn(spec, "externalName");
  const external = Array.isArray(spec?.["externalIPs"]) ? spec["externalIPs"].map(String) : [];
  if (type !== "LoadBalancer") return external.join(",") || "<none>";
  const addresses = objectsIn(objectAt(o, "status", "loadBalancer"), "ingress").map((i) =>
    stringIn(i, "ip") || stringIn(i, "hostname")
  );
  return [...addresses, ...external].filter((a) => a).join(",") || "<pending>";
}

/** `80/TCP,443:30443/TCP`. */
export function ports(o: JsonObject): string {
  return objectsIn(objectAt(o, "spec"), "ports").map((p) =>
    `${p["port"]}${p["nodePort"] ? `:${p["nodePort"]}` : ""}/${stringIn(p, "protocol")}`
  ).join(",") || "<none>";
}

/** Addresses with ports, three at most. */
export function endpointsText(o: JsonObject): string {
  const all = objectsIn(o, "subsets").flatMap((s) =>
    objectsIn(s, "addresses").flatMap((a) => {
      const numbers = objectsIn(s, "ports");
      return numbers.length === 0 ? [stringIn(a, "ip")] : numbers.map((p) => `${stringIn(a, "ip")}:${p["port"]}`);
    })
  );
  if (all.length === 0) return "<none>";
  return all.slice(0, 3).join(",") + (all.length > 3 ? ` + ${all.length - 3} more...` : "");
}

/** `Ready` or `NotReady`, with `SchedulingDisabled` when cordoned. */
export function nodeStatus(o: JsonObject): string {
  const ready = objectsIn(objectAt(o, "status"), "conditions").find((c) => c["type"] === "Ready");
  const text = ready ? (ready["status"] === "True" ? "Ready" : "NotReady") : "Unknown";
  return objectAt(o, "spec")?.["unschedulable"] === true ? `${text},SchedulingDisabled` : text;
}

/** Roles from the labels `node-role.kubernetes.io/…`. */
export function nodeRoles(o: JsonObject): string {
  const prefix = "node-role.kubernetes.io/";
  const labels = Object.keys(objectAt(o, "metadata", "labels") ?? {});
  return labels.filter((l) => l.startsWith(prefix)).map((l) => l.slice(prefix.length)).sort().join(",") || "<none>";
}

/** `kind/name` of what an event is about; both event groups. */
export function eventObject(o: JsonObject): string {
  const about = asObject(o["involvedObject"]) ?? asObject(o["regarding"]);
  return `${stringIn(about, "kind").toLowerCase()}/${stringIn(about, "name")}`;
}

/** Names of a binding's subjects of one kind. */
export function subjects(o: JsonObject, kind: string): string {
  return objectsIn(o, "subjects").filter((s) => s["kind"] === kind).map((s) =>
    kind === "ServiceAccount" ? `${stringIn(s, "namespace")}/${stringIn(s, "name")}` : stringIn(s, "name")
  ).join(", ");
}

/** Complete, Failed, Suspended, Terminating or Running. */
export function jobStatus(o: JsonObject): string {
  const is = (type: string) =>
    objectsIn(objectAt(o, "status"), "conditions").some((c) => c["type"] === type && c["status"] === "True");
  for (const type of ["Complete", "Failed"]) if (is(type)) return type;
  if (objectAt(o, "metadata")?.["deletionTimestamp"]) return "Terminating";
  for (const type of ["Suspended", "FailureTarget", "SuccessCriteriaMet"]) if (is(type)) return type;
  return "Running";
}

/** How long a Job ran or runs. */
export function jobDuration(o: JsonObject, now: number): string {
  const status = objectAt(o, "status");
  const start = Date.parse(stringIn(status, "startTime"));
  if (Number.isNaN(start)) return "";
  const end = Date.parse(stringIn(status, "completionTime"));
  return humanDuration((Number.isNaN(end) ? now : end) - start);
}

/** Targets of an autoscaler; current values are unknown without metrics. */
export function hpaTargets(o: JsonObject): string {
  return objectsIn(objectAt(o, "spec"), "metrics").map((m) => {
    const resource = asObject(m["resource"]) ?? asObject(m["containerResource"]);
    const target = objectAt(resource, "target");
    if (!resource) return "<unknown>";
    const wanted = numberIn(target, "averageUtilization");
    return `${stringIn(resource, "name")}: <unknown>/${wanted ? `${wanted}%` : target?.["averageValue"] ?? "<auto>"}`;
  }).join(", ") || "<none>";
}
