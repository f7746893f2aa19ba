/** Requests on resources: from a parsed request to one of the verbs. @module */
import { isObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../json/mod.ts";
import { managerFromUserAgent } from "../ssa/mod.ts";
import { toYaml } from "../yaml/mod.ts";
import { authorize } from "./authorize.ts";
import { bodyFormat, bodyText, mediaType, parseJsonBody, parseYamlBody } from "./body.ts";
import type { Authorizer, ServerRequest, ServerResponse } from "./contract.ts";
import { decodeBody, strictProblem } from "./decode.ts";
import { deleteHow, deleteObject } from "./delete.ts";
import { badRequest, methodNotAllowed, notFound, unknownPath } from "./errors.ts";
import { runAction } from "./action.ts";
import { deleteCollection } from "./delete_collection.ts";
import { negotiate, type Negotiated } from "./negotiate.ts";
import { applyObject, patchObject, patchTypeOf } from "./patch.ts";
import { type OptionsKind, writeQuery } from "./query_options.ts";
import { getStored, list, render } from "./read.ts";
import type { Registry, Served } from "./registry.ts";
import type { RequestInfo } from "./request_info.ts";
import { getScale, writeScale } from "./scale.ts";
import { metaOf, metaText, parsed } from "./stored.ts";
import { includeObjectOf, partialMetadata, tableRow, tableText } from "./table.ts";
import { watch, type WatchHost } from "./watch.ts";
import {
  checkNameOf,
  checkNamespaceOf,
  createObject,
  track,
  updateObject,
  type WriteHost,
  type WriteRequest,
  type Written,
} from "./write.ts";

/** What requests on resources need of the server. */
export interface ResourceHost extends WriteHost, WatchHost {
  registry: Registry;
  authorizer: Authorizer | undefined;
  maxBodyBytes: number;
}

/** Answers a request on a resource. @throws StatusError */
export async function handleResource(
  host: ResourceHost,
  request: ServerRequest,
  info: RequestInfo,
): Promise<ServerResponse> {
  const found = host.registry.find(info.group, info.version, info.resource);
  if (found && info.name !== "" && info.verb === "create" && info.subresource === "") info.verb = "post";
  await authorize(host.authorizer, request.user, info);
  if (!found || info.extra.length > 0) throw unknownPath();
  if (found.kind.def.namespaced) {
    if (info.namespace === "" && (info.name !== "" || info.verb === "create")) throw unknownPath();
  } else if (info.namespace !== "" && info.resource !== "namespaces") throw unknownPath();
  return await new ResourceRequest(host, request, info, found).answer();
}

class ResourceRequest {
  readonly #warnings: string[] = [];
  readonly #namespace: string;

  constructor(
    private readonly host: ResourceHost,
    private readonly request: ServerRequest,
    private readonly info: RequestInfo,
    private readonly served: Served,
  ) {
    this.#namespace = served.kind.def.namespaced ? info.namespace : "";
  }

  async answer(): Promise<ServerResponse> {
    const response = await (this.info.name === "" ? this.#collection() : this.#item());
    if (this.#warnings.length > 0) response.headers["warning"] = warningHeader(this.#warnings);
    return response;
  }

  #form(isList: boolean, convertible = true): Negotiated {
    return negotiate(this.request.headers["accept"], isList, convertible);
  }

  async #collection(): Promise<ServerResponse> {
    const { host, info, served, request } = this;
    const ctx = { storage: host.storage, now: host.clock.now() };
    switch (info.verb) {
      case "list":
        return typed(await list(ctx, served, this.#namespace, info.query, this.#form(true)), this.#form(true));
      case "watch":
        return typed(
          await watch(host, served, this.#namespace, "", request, info.query, this.#form(false)),
          this.#form(false),
        );
      case "create":
        return await this.#create();
      case "deletecollection": {
        const how = deleteHow(info.query, this.#text(), this.#isYaml());
        const body = await deleteCollection(host, served, this.#namespace, info.query, how);
        return { status: 200, headers: {}, body };
      }
      default:
        throw methodNotAllowed();
    }
  }

  async #item(): Promise<ServerResponse> {
    const { info, served, host } = this;
    const { subresource } = info;
    const def = served.version.def;
    if (subresource !== "" && served.kind.def.actions && Object.hasOwn(served.kind.def.actions, subresource)) {
      return await runAction(host, this.#write("", "UpdateOptions"), subresource, info, this.request, this.#text());
    }
    const known = subresource === "" || (subresource === "status" && def.statusSubresource) ||
      (subresource === "scale" && def.scale) ||
      (subresource === "finalize" && served.kind.def.kind === "Namespace" && served.kind.def.group === "");
    if (!known) throw served.kind.custom ? notFound(served.kind.gr, info.name) : unknownPath();
    switch (info.verb) {
      case "get":
        return await this.#get();
      case "watch":
        return typed(
          await watch(host, served, this.#namespace, info.name, this.request, info.query, this.#form(false)),
          this.#form(false),
        );
      case "update":
        return await this.#update();
      case "patch":
        return await this.#patch();
      case "delete":
        if (subresource !== "") throw methodNotAllowed();
        return await this.#delete();
      default:
        throw methodNotAllowed();
    }
  }

  async #get(): Promise<ServerResponse> {
    const { host, served, info } = this;
    const form = this.#form(false);
    const stored = await getStored(host.storage, served, this.#namespace, info.name);
    if (info.subresource === "scale") {
      const scale = getScale(served, parsed(served.kind, served.version, stored.value, stored.revision));
      return jsonResponse(200, scale, form);
    }
    const body = render(served, stored, form, info.query, host.clock.now());
    return typed({ status: 200, headers: {}, body }, form);
  }

  #text(): string {
    return bodyText(this.request.body, this.host.maxBodyBytes);
  }

  #isYaml(): boolean {
    return mediaType(this.request.headers["content-type"]) === "application/yaml";
  }

  #write(subresource: string, options: OptionsKind, apply = false): WriteRequest {
    const query = writeQuery(this.info.query, options, apply);
    return {
      served: this.served,
      namespace: this.#namespace,
      name: this.info.name,
      subresource,
      user: this.request.user,
      query,
      manager: query.fieldManager || managerFromUserAgent(this.request.headers["user-agent"] ?? ""),
      warnings: this.#warnings,
    };
  }

  async #create(): Promise<ServerResponse> {
    const { served, info } = this;
    const form = this.#form(false);
    const req = this.#write("", "CreateOptions");
    const format = bodyFormat(this.request.headers["content-type"], served.kind.custom);
    const decoded = decodeBody(served, this.#text(), format);
    this.#strict(decoded.problems, decoded.object, req);
    checkNamespaceOf(decoded.object, served, this.#namespace);
    req.name = metaText(decoded.object, "name");
    return this.#written(await createObject(this.host, req, decoded.object, false), form, info.query);
  }

  #strict(problems: string[], object: JsonObject, req: WriteRequest): void {
    const strict = strictProblem(problems, req.query.fieldValidation, this.#warnings);
    if (!strict) return;
    const { kind, version } = this.served;
    throw badRequest(
      `${String(object.kind)} in version "${version.def.name}" cannot be handled as a ${kind.def.kind}: ${strict}`,
    );
  }

  async #update(): Promise<ServerResponse> {
    const { served, info, host } = this;
    const form = this.#form(false);
    const req = this.#write(info.subresource, "UpdateOptions");
    const text = this.#text();
    const format = bodyFormat(this.request.headers["content-type"], served.kind.custom);
    if (info.subresource === "scale") return jsonResponse(200, await writeScale(host, req, undefined, text), form);
    const first = decodeBody(served, text, format);
    this.#strict(first.problems, first.object, req);
    checkNameOf(first.object, info.name);
    checkNamespaceOf(first.object, served, this.#namespace);
    const uid = metaText(first.object, "uid");
    let used = false;
    const written = await updateObject(host, req, {
      ...(uid ? { uid } : {}),
      change: (live, now) => {
        // A change alters the object, so a second try decodes anew.
        const object = used ? decodeBody(served, text, format, live).object : first.object;
        if (used) checkNamespaceOf(object, served, this.#namespace);
        used = true;
        if (info.subresource === "finalize") return { next: finalized(live, text, format), mayDropTracking: true };
        return { next: track(req, live, object, now), mayDropTracking: true };
      },
      ...(served.kind.def.createOnUpdate && info.subresource === ""
        ? {
          create: async () => {
            await authorize(host.authorizer, this.request.user, { ...info, verb: "create" });
            delete metaOf(first.object).resourceVersion;
            return await createObject(host, req, first.object, false);
          },
        }
        : {}),
    });
    return this.#written(written, form, info.query);
  }

  async #patch(): Promise<ServerResponse> {
    const { served, info, host } = this;
    const form = this.#form(false);
    const type = patchTypeOf(this.request.headers["content-type"], served.kind);
    const text = this.#text();
    const req = this.#write(info.subresource, "PatchOptions", type === "apply");
    if (info.subresource === "scale") return jsonResponse(200, await writeScale(host, req, type, text), form);
    const written = type === "apply"
      ? await applyObject(
        host,
        req,
        text,
        info.subresource === ""
          ? () => authorize(host.authorizer, this.request.user, { ...info, verb: "create" })
          : undefined,
      )
      : await patchObject(host, req, type, text);
    return this.#written(written, form, info.query);
  }

  async #delete(): Promise<ServerResponse> {
    const { host, served, info } = this;
    const form = this.#form(false, false);
    const how = deleteHow(info.query, this.#text(), this.#isYaml());
    const { object, gone } = await deleteObject(host, served, this.#namespace, info.name, how);
    if (!gone) return jsonResponse(200, object, form);
    const { group, plural } = served.kind.def;
    return jsonResponse(200, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Success",
      details: {
        name: info.name,
        ...(group ? { group } : {}),
        kind: plural,
        uid: metaText(object, "uid"),
      },
    }, form);
  }

  #written(written: Written, form: Negotiated, query: URLSearchParams): ServerResponse {
    const { object } = written;
    object.apiVersion = this.served.version.apiVersion;
    if (written.revision === undefined) delete metaOf(object).resourceVersion;
    const status = written.created ? 201 : 200;
    if (form.as === "object") return jsonResponse(status, object, form);
    if (form.as === "PartialObjectMetadata") return jsonResponse(status, partialMetadata(object, form.version), form);
    const row = tableRow(
      this.served.version,
      object,
      () => stringifyJson(object),
      includeObjectOf(query),
      this.host.clock.now(),
    );
    const meta = { resourceVersion: metaText(object, "resourceVersion") };
    return typed({ status, headers: {}, body: tableText(this.served.version, [row], meta, form.version) }, form);
  }
}

/** PUT namespaces/NAME/finalize changes nothing but spec.finalizers. Read from the body itself: decoding fills them in. */
function finalized(live: JsonObject, text: string, format: "json" | "yaml"): JsonObject {
  const { value } = format === "yaml" ? parseYamlBody(text) : parseJsonBody(text);
  const spec = isObject(value) && isObject(value.spec) ? value.spec : {};
  const finalizers = Array.isArray(spec.finalizers) ? spec.finalizers : [];
  const { finalizers: _, ...rest } = isObject(live.spec) ? live.spec : {} as JsonObject;
  return { ...live, metadata: { ...metaOf(live) }, spec: finalizers.length ? { ...rest, finalizers } : rest };
}

/** `Warning: 299 - "text"`, one for each text. */
function warningHeader(warnings: readonly string[]): string {
  // deno-lint-ignore no-control-regex
  const clean = (text: string) => text.replace(/[\u0000-\u001f\u007f]/g, " ").replace(/[\\"]/g, "\\$&");
  return [...new Set(warnings)].map((w) => `299 - "${clean(w)}"`).join(", ");
}

/** A JSON (or YAML) answer. */
export function jsonResponse(status: number, value: JsonValue, form?: Negotiated): ServerResponse {
  return typed({ status, headers: {}, body: stringifyJson(value) }, form);
}

/** Sets the content type; turns JSON into YAML when that was asked for. */
function typed(response: ServerResponse, form: Negotiated | undefined): ServerResponse {
  if (form?.yaml && typeof response.body === "string") {
    response.headers["content-type"] = "application/yaml";
    response.body = toYaml(parseJson(response.body));
  } else response.headers["content-type"] = "application/json";
  return response;
}
