/** The namespaces that are there from the start. @module */
import { stringifyJson } from "../shared/json/mod.ts";
import type { ApiHandler, ServerRequest } from "../shared/server/contract.ts";

/** `default` for users, `convoy-system` for Convoy's own Leases. */
export const FIRST_NAMESPACES = ["default", "convoy-system"] as const;

/** Creates those that are missing. @throws Error when the server refuses */
export async function createNamespaces(api: ApiHandler): Promise<void> {
  for (const name of FIRST_NAMESPACES) {
    const request: ServerRequest = {
      method: "POST",
      path: "/api/v1/namespaces?fieldManager=convoy-apiserver",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: stringifyJson({ apiVersion: "v1", kind: "Namespace", metadata: { name } }),
      user: { name: "system:apiserver", groups: ["system:masters"] },
    };
    const { status, body } = await api.handle(request);
    if (status !== 201 && status !== 409) {
      throw new Error(`Cannot create the namespace "${name}": the store's server answered ${status} ${String(body)}`);
    }
  }
}
