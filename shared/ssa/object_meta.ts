/** The schema of `metadata` (ObjectMeta of the Kubernetes API reference, as far as apply cares). @module */
import type { OpenApiSchema } from "./contract.ts";

const STRINGS: OpenApiSchema = { type: "object", additionalProperties: { type: "string" } };
const TIME: OpenApiSchema = { type: "string", format: "date-time" };

/** Shared by all kinds. */
export const OBJECT_META: OpenApiSchema = {
  type: "object",
  properties: {
    name: { type: "string" },
    generateName: { type: "string" },
    namespace: { type: "string" },
    selfLink: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    generation: { type: "integer", format: "int64" },
    creationTimestamp: TIME,
    deletionTimestamp: TIME,
    deletionGracePeriodSeconds: { type: "integer", format: "int64" },
    labels: STRINGS,
    annotations: STRINGS,
    finalizers: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
    ownerReferences: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["uid"],
      items: {
        type: "object",
        "x-kubernetes-map-type": "atomic",
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          name: { type: "string" },
          uid: { type: "string" },
          controller: { type: "boolean" },
          blockOwnerDeletion: { type: "boolean" },
        },
      },
    },
    managedFields: {
      type: "array",
      items: {
        type: "object",
        properties: {
          manager: { type: "string" },
          operation: { type: "string" },
          apiVersion: { type: "string" },
          time: TIME,
          fieldsType: { type: "string" },
          fieldsV1: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          subresource: { type: "string" },
        },
      },
    },
  },
};
