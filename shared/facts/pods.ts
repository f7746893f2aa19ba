/**
 * Defaults and checks of pod specs, wherever they occur (Pod, templates of workloads). The defaults are those which
 * kube-apiserver fills in beyond its OpenAPI document.
 *
 * @module
 */
import type { JsonObject } from "../json/mod.ts";
import type { FieldError } from "../server/contract.ts";
import {
  asObject,
  duplicate,
  ensureObject,
  fill,
  fillText,
  objectAt,
  objectsIn,
  required,
  stringIn,
} from "./fields.ts";
import { invalid, notFound, unsupported } from "./fields.ts";
import { labelErrors, nameError } from "./names.ts";

/** `Always` for the tag `latest` (also when there is no tag), else `IfNotPresent`. */
export function pullPolicyOf(image: string): string {
  const withoutDigest = image.split("@")[0]!;
  const tag = withoutDigest.slice(withoutDigest.lastIndexOf("/") + 1).split(":")[1] ?? "";
  if (tag === "latest") return "Always";
  return tag === "" && !image.includes("@") ? "Always" : "IfNotPresent";
}

/** Fills a pod template (`metadata`, `spec`). */
export function preparePodTemplate(template: JsonObject | undefined): void {
  if (!template) return;
  fill(template, "metadata", {});
  const spec = ensureObject(template, "spec");
  if (spec) preparePodSpec(spec);
}

/** Fills a pod spec. */
export function preparePodSpec(spec: JsonObject): void {
  fillText(spec, "restartPolicy", "Always");
  fill(spec, "terminationGracePeriodSeconds", 30);
  fillText(spec, "dnsPolicy", "ClusterFirst");
  fill(spec, "securityContext", {});
  fillText(spec, "schedulerName", "default-scheduler");
  // The old name of the field is kept equal to the new one; the new one wins.
  const account = stringIn(spec, "serviceAccountName") || stringIn(spec, "serviceAccount");
  if (account) {
    spec["serviceAccountName"] = account;
    spec["serviceAccount"] = account;
  }
  for (const volume of objectsIn(spec, "volumes")) prepareVolume(volume);
  for (const field of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of objectsIn(spec, field)) prepareContainer(container);
  }
}

function prepareContainer(container: JsonObject): void {
  fill(container, "resources", {});
  fillText(container, "terminationMessagePath", "/dev/termination-log");
  fillText(container, "terminationMessagePolicy", "File");
  fillText(container, "imagePullPolicy", pullPolicyOf(stringIn(container, "image")));
  for (const port of objectsIn(container, "ports")) fillText(port, "protocol", "TCP");
  for (const env of objectsIn(container, "env")) {
    const ref = objectAt(env, "valueFrom", "fieldRef");
    if (ref) fillText(ref, "apiVersion", "v1");
  }
  for (const field of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const probe = asObject(container[field]);
    if (!probe) continue;
    for (const [name, value] of PROBE) if (!probe[name]) probe[name] = value;
    prepareHttpGet(objectAt(probe, "httpGet"));
    const grpc = objectAt(probe, "grpc");
    if (grpc) fill(grpc, "service", "");
  }
  prepareHttpGet(objectAt(container, "lifecycle", "postStart", "httpGet"));
  prepareHttpGet(objectAt(container, "lifecycle", "preStop", "httpGet"));
}

const PROBE: readonly (readonly [string, number])[] = [
  ["timeoutSeconds", 1],
  ["periodSeconds", 10],
  ["successThreshold", 1],
  ["failureThreshold", 3],
];

function prepareHttpGet(action: JsonObject | undefined): void {
  if (!action) return;
  fillText(action, "path", "/");
  fillText(action, "scheme", "HTTP");
}

function prepareVolume(volume: JsonObject): void {
  const sources = Object.keys(volume).filter((key) => key !== "name" && volume[key] !== null);
  if (sources.length === 0) volume["emptyDir"] = {};
  for (const field of ["secret", "configMap", "downwardAPI", "projected"]) {
    const source = asObject(volume[field]);
    if (source) fill(source, "defaultMode", 420);
  }
  const hostPath = asObject(volume["hostPath"]);
  if (hostPath) fill(hostPath, "type", "");
  const image = asObject(volume["image"]);
  if (image) fillText(image, "pullPolicy", pullPolicyOf(stringIn(image, "reference")));
  for (const item of objectsIn(asObject(volume["downwardAPI"]), "items")) {
    const ref = asObject(item["fieldRef"]);
    if (ref) fillText(ref, "apiVersion", "v1");
  }
  for (const source of objectsIn(asObject(volume["projected"]), "sources")) {
    const token = asObject(source["serviceAccountToken"]);
    if (token) fill(token, "expirationSeconds", 3600);
    for (const item of objectsIn(asObject(source["downwardAPI"]), "items")) {
      const ref = asObject(item["fieldRef"]);
      if (ref) fillText(ref, "apiVersion", "v1");
    }
  }
  const claim = objectAt(volume, "ephemeral", "volumeClaimTemplate", "spec");
  if (claim) fillText(claim, "volumeMode", "Filesystem");
}

/** Common mistakes in a pod spec. `restart`: the allowed restart policies, none = any; `claims`: volumes made elsewhere. */
export function podSpecErrors(
  spec: JsonObject | undefined,
  path: string,
  restart: readonly string[] = [],
  claims: readonly string[] = [],
): FieldError[] {
  const errors: FieldError[] = [];
  const volumes = new Set<string>();
  objectsIn(spec, "volumes").forEach((volume, i) => {
    const name = stringIn(volume, "name");
    if (!name) errors.push(required(`${path}.volumes[${i}].name`));
    else if (volumes.has(name)) errors.push(duplicate(`${path}.volumes[${i}].name`, name));
    else errors.push(...nameError("dns1123Label", `${path}.volumes[${i}].name`, name));
    volumes.add(name);
  });
  for (const claim of claims) volumes.add(claim);
  const containers = objectsIn(spec, "containers");
  if (containers.length === 0) errors.push(required(`${path}.containers`));
  const names = new Set<string>();
  for (const field of ["containers", "initContainers"]) {
    objectsIn(spec, field).forEach((container, i) => {
      errors.push(...containerErrors(container, `${path}.${field}[${i}]`, names, volumes));
    });
  }
  if (restart.length > 0 && !restart.includes(stringIn(spec, "restartPolicy"))) {
    errors.push(
      restart.length === 1
        ? unsupported(`${path}.restartPolicy`, spec?.["restartPolicy"], restart)
        : required(`${path}.restartPolicy`, `valid values: ${restart.map((r) => `"${r}"`).join(", ")}`),
    );
  }
  return errors;
}

function containerErrors(
  container: JsonObject,
  path: string,
  names: Set<string>,
  volumes: Set<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  const name = stringIn(container, "name");
  if (!name) errors.push(required(`${path}.name`));
  else if (names.has(name)) errors.push(duplicate(`${path}.name`, name));
  else errors.push(...nameError("dns1123Label", `${path}.name`, name));
  names.add(name);
  if (!stringIn(container, "image")) errors.push(required(`${path}.image`));
  objectsIn(container, "ports").forEach((port, i) => {
    const number = port["containerPort"];
    if (typeof number !== "number" || number === 0) errors.push(required(`${path}.ports[${i}].containerPort`));
    else if (number < 1 || number > 65535) {
      errors.push(
        invalid(`${path}.ports[${i}].containerPort`, number, "must be between 1 and 65535, inclusive"),
      );
    }
    const protocol = stringIn(port, "protocol");
    if (!PROTOCOLS.includes(protocol)) {
      errors.push(unsupported(`${path}.ports[${i}].protocol`, protocol, PROTOCOLS));
    }
  });
  objectsIn(container, "env").forEach((env, i) => {
    if (!stringIn(env, "name")) errors.push(required(`${path}.env[${i}].name`));
    if (stringIn(env, "value") && asObject(env["valueFrom"])) {
      errors.push(invalid(`${path}.env[${i}].valueFrom`, "", "may not be specified when `value` is not empty"));
    }
  });
  objectsIn(container, "volumeMounts").forEach((mount, i) => {
    const volume = stringIn(mount, "name");
    if (!volume) errors.push(required(`${path}.volumeMounts[${i}].name`));
    else if (!volumes.has(volume)) {
      errors.push(notFound(`${path}.volumeMounts[${i}].name`, volume));
    }
    if (!stringIn(mount, "mountPath")) errors.push(required(`${path}.volumeMounts[${i}].mountPath`));
  });
  return errors;
}

const PROTOCOLS = ["SCTP", "TCP", "UDP"];

/**
 * Checks a workload's template against its selector, then the template itself. A selector that is missing (null) matches
 * nothing; undefined: the kind has none.
 */
export function templateErrors(
  template: JsonObject | undefined,
  selector: JsonObject | null | undefined,
  path: string,
  restart: readonly string[] = ["Always"],
  claims: readonly string[] = [],
): FieldError[] {
  const labels = objectAt(template, "metadata", "labels");
  const errors = labelErrors(labels, `${path}.metadata.labels`);
  if (selector === null || (selector && !selectorMatches(selector, labels))) {
    errors.push(invalid(`${path}.metadata.labels`, labels ?? null, "`selector` does not match template `labels`"));
  }
  errors.push(...podSpecErrors(objectAt(template, "spec"), `${path}.spec`, restart, claims));
  return errors;
}

/** Whether a LabelSelector matches labels. */
export function selectorMatches(selector: JsonObject, labels: JsonObject | undefined): boolean {
  for (const [key, value] of Object.entries(objectAt(selector, "matchLabels") ?? {})) {
    if (!labels || !Object.hasOwn(labels, key) || labels[key] !== value) return false;
  }
  return objectsIn(selector, "matchExpressions").every((e) => {
    const key = stringIn(e, "key");
    const has = labels !== undefined && Object.hasOwn(labels, key);
    const values = Array.isArray(e["values"]) ? e["values"] : [];
    switch (e["operator"]) {
      case "In":
        return has && values.includes(labels[key]!);
      case "NotIn":
        return !has || !values.includes(labels[key]!);
      case "Exists":
        return has;
      default:
        return !has;
    }
  });
}
