/**
 * Questions that a user asks about itself: `kubectl auth can-i`, `can-i --list`, `whoami`. They are answered, never
 * stored.
 *
 * @module
 */
import { isObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from "../shared/json/mod.ts";
import { failure } from "../shared/kube/status.ts";
import type { Authorizer, RequestAttributes, ServerRequest, ServerResponse } from "../shared/server/contract.ts";
import { grantsOf } from "./rbac.ts";

interface Review {
  kind: string;
  answer(body: JsonObject, request: ServerRequest, authorizer: Authorizer): Promise<JsonObject>;
}

const AUTHORIZATION = "/apis/authorization.k8s.io/v1";
const AUTHENTICATION = "/apis/authentication.k8s.io/v1";

const REVIEWS: Readonly<Record<string, Review>> = {
  [`${AUTHORIZATION}/selfsubjectaccessreviews`]: { kind: "SelfSubjectAccessReview", answer: canI },
  [`${AUTHORIZATION}/selfsubjectrulesreviews`]: { kind: "SelfSubjectRulesReview", answer: listRules },
  [`${AUTHENTICATION}/selfsubjectreviews`]: { kind: "SelfSubjectReview", answer: whoAmI },
};

/**
 * Answers the request when it is one of the three reviews, or discovery of their groups; otherwise undefined.
 *
 * @throws StatusError 400 when the body is no review, 405 for another method
 */
export async function answerReview(
  request: ServerRequest,
  path: string,
  authorizer: Authorizer,
): Promise<ServerResponse | undefined> {
  const review = Object.hasOwn(REVIEWS, path) ? REVIEWS[path] : undefined;
  if (!review) {
    return request.method === "GET" && (path === AUTHORIZATION || path === AUTHENTICATION)
      ? json(200, discovery(path))
      : undefined;
  }
  if (request.method !== "POST") {
    throw failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
  }
  const apiVersion = path.split("/").slice(2, 4).join("/");
  const body = parseBody(request.body, apiVersion, review.kind);
  const status = await review.answer(body, request, authorizer);
  const answer: JsonObject = { kind: review.kind, apiVersion, metadata: { creationTimestamp: null } };
  if (isObject(body["spec"])) answer["spec"] = body["spec"];
  return json(201, { ...answer, status });
}

function parseBody(body: ServerRequest["body"], apiVersion: string, kind: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    throw failure(400, "BadRequest", `the body of the request must be a ${kind} as JSON`);
  }
  const wrong = !isObject(value) || (value["kind"] ?? kind) !== kind ||
    (value["apiVersion"] ?? apiVersion) !== apiVersion;
  if (wrong) throw failure(400, "BadRequest", `the body of the request must be a ${kind} of ${apiVersion}`);
  return value as JsonObject;
}

async function canI(body: JsonObject, { user }: ServerRequest, authorizer: Authorizer): Promise<JsonObject> {
  const spec = isObject(body["spec"]) ? body["spec"] : {};
  const asked = attributesOf(spec);
  if (!asked) {
    const why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    throw failure(
      422,
      "Invalid",
      `SelfSubjectAccessReview.authorization.k8s.io "" is invalid: spec: Invalid value: ${why}`,
    );
  }
  const { allowed, reason } = await authorizer.authorize(user, asked);
  return { allowed, ...(reason ? { reason } : {}) };
}

function attributesOf(spec: JsonObject): RequestAttributes | undefined {
  const resource = spec["resourceAttributes"], other = spec["nonResourceAttributes"];
  if (isObject(resource) === isObject(other)) return undefined;
  const from = (isObject(resource) ? resource : other) as JsonObject;
  const text = (name: string) => typeof from[name] === "string" ? from[name] : "";
  return {
    verb: text("verb"),
    isResourceRequest: isObject(resource),
    path: text("path"),
    group: text("group"),
    version: text("version"),
    resource: text("resource"),
    subresource: text("subresource"),
    namespace: text("namespace"),
    name: text("name"),
  };
}

async function listRules(_body: JsonObject, { user }: ServerRequest): Promise<JsonObject> {
  const grants = grantsOf(user);
  return {
    resourceRules: grants.flatMap((grant) =>
      grant.resources.map((rule) => ({
        verbs: [...rule.verbs],
        apiGroups: [...rule.groups],
        resources: [...rule.resources],
      }))
    ),
    nonResourceRules: grants.flatMap((grant) =>
      grant.paths.map((rule) => ({ verbs: [...rule.verbs], nonResourceURLs: [...rule.paths] }))
    ),
    incomplete: false,
  };
}

async function whoAmI(_body: JsonObject, { user }: ServerRequest): Promise<JsonObject> {
  const info: JsonObject = { username: user.name, groups: [...user.groups] };
  if (user.uid !== undefined) info["uid"] = user.uid;
  return { userInfo: info };
}

function discovery(path: string): JsonObject {
  const resources = Object.entries(REVIEWS).filter(([where]) => where.startsWith(`${path}/`)).map((
    [where, { kind }],
  ) => ({
    name: where.slice(path.length + 1),
    singularName: kind.toLowerCase(),
    namespaced: false,
    kind,
    verbs: ["create"],
  }));
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: path.slice("/apis/".length),
    resources,
  };
}

function json(status: number, body: JsonObject): ServerResponse {
  return { status, headers: { "content-type": "application/json" }, body: stringifyJson(body) };
}
