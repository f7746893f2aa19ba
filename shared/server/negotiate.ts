/** Which form of an answer a client asked for. @module */
import { notAcceptable } from "./errors.ts";

/** The form of an answer. `Protobuf` is never chosen: clients that ask for it also take JSON. */
export type As = "object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";

/** A chosen form. */
export interface Negotiated {
  as: As;
  /** `v1` or `v1beta1` of meta.k8s.io for the converted forms. */
  version: string;
  yaml: boolean;
}

interface Clause {
  type: string;
  params: Record<string, string>;
}

const ACCEPTED = ["application/json", "application/yaml"];

function clauses(accept: string): Clause[] {
  return accept.split(",").map((part) => {
    const [type = "", ...rest] = part.split(";").map((s) => s.trim());
    const params: Record<string, string> = {};
    for (const p of rest) {
      const eq = p.indexOf("=");
      if (eq > 0) params[p.slice(0, eq).toLowerCase()] = p.slice(eq + 1).replace(/^"|"$/g, "");
    }
    return { type: type.toLowerCase(), params };
  }).filter((c) => c.type !== "");
}

/**
 * Chooses the form for `Accept`. Clauses are tried in the order given, as upstream does.
 * @param list whether the answer is a list (decides between the two PartialObjectMetadata kinds)
 * @throws StatusError 406
 */
export function negotiate(accept: string | undefined, list: boolean, convertible = true): Negotiated {
  if (!accept) return { as: "object", version: "v1", yaml: false };
  for (const { type, params } of clauses(accept)) {
    const yaml = type === "application/yaml";
    if (!yaml && type !== "application/json" && type !== "*/*" && type !== "application/*") continue;
    const as = params["as"];
    if (as === undefined) return { as: "object", version: "v1", yaml };
    if (!convertible || params["g"] !== "meta.k8s.io" || !/^v1(beta1)?$/.test(params["v"] ?? "")) continue;
    if (as === "Table" || as === (list ? "PartialObjectMetadataList" : "PartialObjectMetadata")) {
      return { as, version: params["v"]!, yaml };
    }
  }
  throw notAcceptable(
    convertible ? [...ACCEPTED, "application/json;as=Table;v=v1;g=meta.k8s.io"] : ACCEPTED,
  );
}

/** Whether a clause of `Accept` asks for aggregated discovery; gives its version. */
export function wantsAggregated(accept: string | undefined): "v2" | "v2beta1" | undefined {
  for (const { type, params } of clauses(accept ?? "")) {
    if (type !== "application/json" && type !== "*/*") continue;
    if (params["as"] === undefined) return undefined;
    if (params["as"] === "APIGroupDiscoveryList" && params["g"] === "apidiscovery.k8s.io") {
      if (params["v"] === "v2" || params["v"] === "v2beta1") return params["v"];
    }
  }
  return undefined;
}
