/** Defaults and checks of Service, Endpoints, EndpointSlice. @module */
import type { JsonObject, JsonValue } from "../json/mod.ts";
import type { FieldError, KindStrategy } from "../server/contract.ts";
import {
  duplicate,
  ensureObject,
  fill,
  fillText,
  invalid,
  numberIn,
  objectAt,
  objectsIn,
  required,
  sameJson,
  stringIn,
  unsupported,
} from "./fields.ts";
import { nameError } from "./names.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/** v1 Service. */
export const service: KindStrategy = {
  prepare(object) {
    const spec = ensureObject(object, "spec");
    if (!spec) return;
    fillText(spec, "type", "ClusterIP");
    fillText(spec, "sessionAffinity", "None");
    if (spec["sessionAffinity"] === "None") delete spec["sessionAffinityConfig"];
    else if (!objectAt(spec, "sessionAffinityConfig", "clientIP")?.["timeoutSeconds"]) {
      spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: 10800 } };
    }
    for (const port of objectsIn(spec, "ports")) {
      fillText(port, "protocol", "TCP");
      if (!port["targetPort"]) port["targetPort"] = port["port"] ?? 0;
    }
    const type = stringIn(spec, "type");
    if (type === "NodePort" || type === "LoadBalancer") fillText(spec, "externalTrafficPolicy", "Cluster");
    if (type !== "ExternalName") fillText(spec, "internalTrafficPolicy", "Cluster");
    if (type === "LoadBalancer") fill(spec, "allocateLoadBalancerNodePorts", true);
    for (const ingress of objectsIn(objectAt(object, "status", "loadBalancer"), "ingress")) {
      if (type === "LoadBalancer" && ingress["ip"]) fillText(ingress, "ipMode", "VIP");
    }
  },
  allocate(object, old) {
    const spec = objectAt(object, "spec");
    if (!spec) return;
    const type = stringIn(spec, "type");
    if (type === "ExternalName") return release(spec);
    const was = objectAt(old, "spec");
    keepAddress(spec, was);
    if (!stringIn(spec, "clusterIP")) spec["clusterIP"] = clusterIpOf(object);
    spec["clusterIPs"] = Array.isArray(spec["clusterIPs"]) && spec["clusterIPs"].length > 0
      ? spec["clusterIPs"]
      : [spec["clusterIP"]!];
    fill(spec, "ipFamilies", ["IPv4"]);
    fillText(spec, "ipFamilyPolicy", "SingleStack");
    const nodePorts = type === "NodePort" ||
      (type === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false);
    if (nodePorts) allocateNodePorts(object, spec, was);
    else if (was && stringIn(was, "type") !== type) {
      for (const port of objectsIn(spec, "ports")) delete port["nodePort"];
    }
  },
  validate(object, old) {
    const spec = objectAt(object, "spec");
    return [...portErrors(spec), ...typeErrors(spec), ...addressErrors(spec, objectAt(old, "spec"))];
  },
};

/** An ExternalName Service has no address of its own. */
function release(spec: JsonObject): void {
  for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) delete spec[field];
}

function keepAddress(spec: JsonObject, was: JsonObject | undefined): void {
  if (!was) return;
  for (const field of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
    const value = was[field];
    if (value !== undefined && !spec[field]) spec[field] = structuredClone(value);
  }
}

function allocateNodePorts(object: JsonObject, spec: JsonObject, was: JsonObject | undefined): void {
  const taken = new Set<JsonValue>(objectsIn(spec, "ports").map((p) => p["nodePort"] ?? 0));
  for (const port of objectsIn(spec, "ports")) {
    if (port["nodePort"]) continue;
    const before = objectsIn(was, "ports").find((p) =>
      p["port"] === port["port"] && stringIn(p, "protocol") === stringIn(port, "protocol")
    );
    let number = numberIn(before, "nodePort") || 30000 + hashOf(`${keyOf(object)}/${port["port"]}`) % 2768;
    while (taken.has(number)) number = number === 32767 ? 30000 : number + 1;
    taken.add(number);
    port["nodePort"] = number;
  }
}

function keyOf(object: JsonObject): string {
  const metadata = objectAt(object, "metadata");
  return `${stringIn(metadata, "namespace")}/${stringIn(metadata, "name")}`;
}

/** FNV-1a, 32 bits: addresses are the same in each run and in a dry run. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return hash;
}

/** An address in 10.96.0.0/12 made from the Service's name. */
function clusterIpOf(object: JsonObject): string {
  const n = hashOf(keyOf(object));
  return `10.${96 + ((n >>> 16) & 15)}.${(n >>> 8) & 255}.${1 + (n & 255) % 254}`;
}

function portErrors(spec: JsonObject | undefined): FieldError[] {
  const ports = objectsIn(spec, "ports");
  const headless = stringIn(spec, "clusterIP") === "None";
  if (ports.length === 0) {
    return headless || stringIn(spec, "type") === "ExternalName" ? [] : [required("spec.ports")];
  }
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const pairs = new Set<string>();
  ports.forEach((port, i) => {
    const path = `spec.ports[${i}]`;
    const name = stringIn(port, "name");
    if (!name && ports.length > 1) errors.push(required(`${path}.name`));
    else if (name && names.has(name)) errors.push(duplicate(`${path}.name`, name));
    else if (name) errors.push(...nameError("dns1123Label", `${path}.name`, name));
    names.add(name);
    const number = numberIn(port, "port");
    if (number < 1 || number > 65535) {
      errors.push(invalid(`${path}.port`, port["port"] ?? 0, "must be between 1 and 65535, inclusive"));
    }
    const target = port["targetPort"];
    if (typeof target === "number" && (target < 1 || target > 65535)) {
      errors.push(invalid(`${path}.targetPort`, target, "must be between 1 and 65535, inclusive"));
    }
    const protocol = stringIn(port, "protocol");
    if (!PROTOCOLS.includes(protocol)) errors.push(unsupported(`${path}.protocol`, protocol, PROTOCOLS));
    const pair = `${number}/${protocol}`;
    if (pairs.has(pair)) errors.push(duplicate(path, { port: number, protocol }));
    pairs.add(pair);
  });
  return errors;
}

function typeErrors(spec: JsonObject | undefined): FieldError[] {
  const type = stringIn(spec, "type");
  if (!TYPES.includes(type)) return [unsupported("spec.type", type, TYPES)];
  if (type === "ExternalName" && !stringIn(spec, "externalName")) return [required("spec.externalName")];
  if (type === "LoadBalancer" && stringIn(spec, "clusterIP") === "None") {
    return [invalid("spec.clusterIPs[0]", "None", "may not be set to 'None' for LoadBalancer services")];
  }
  return [];
}

function addressErrors(spec: JsonObject | undefined, was: JsonObject | undefined): FieldError[] {
  if (!spec || !was || stringIn(was, "type") === "ExternalName" || stringIn(spec, "type") === "ExternalName") return [];
  return sameJson(spec["clusterIPs"] ?? null, was["clusterIPs"] ?? null) &&
      stringIn(spec, "clusterIP") === stringIn(was, "clusterIP")
    ? []
    : [invalid("spec.clusterIPs[0]", spec["clusterIPs"] ?? null, "may not change once set")];
}

/** v1 Endpoints. */
export const endpoints: KindStrategy = {
  prepare(object) {
    for (const subset of objectsIn(object, "subsets")) {
      for (const port of objectsIn(subset, "ports")) fillText(port, "protocol", "TCP");
    }
  },
};

/** discovery.k8s.io/v1 EndpointSlice. */
export const endpointSlice: KindStrategy = {
  prepare(object) {
    for (const port of objectsIn(object, "ports")) {
      fill(port, "name", "");
      fillText(port, "protocol", "TCP");
    }
  },
  validate(object) {
    const type = stringIn(object, "addressType");
    return type ? [] : [required("addressType")];
  },
};
