/** `convoy get`: objects of Convoy's API server. @module */
import type { Command } from "commander";
import { TABLE_ACCEPT } from "./shared.ts";
import type { KubeClient } from "../../shared/kube/contract.ts";
import { keyOf, type KubeObject, type ObjectKey, type Resource } from "../../shared/kube/types.ts";
import { connect, type ConnectOptions } from "../connect.ts";
import { dump, type Format, FORMATS, layTable, parseFormat, type Table } from "../output.ts";
import { resolveResource } from "../resolve.ts";
import { addConnectOptions, type Print } from "./shared.ts";

interface GetOptions extends ConnectOptions {
  output: string;
  allNamespaces?: boolean;
  selector?: string;
  fieldSelector?: string;
  watch?: boolean;
  showManagedFields?: boolean;
}

/** Adds the command. */
export function addGet(program: Command, print: Print): void {
  addConnectOptions(program.command("get"))
    .description("List objects, or show one. The resource is releases when none is named.")
    .argument("[resource]", "releases, clusters, gitrepositories, … or a short name", "releases")
    .argument("[name]", "one object")
    .option("-o, --output <format>", FORMATS.join("|"), "table")
    .option("-A, --all-namespaces", "in all namespaces")
    .option("-l, --selector <labels>", "label selector")
    .option("--field-selector <fields>", "field selector, e.g. spec.cluster.name=prod")
    .option("-w, --watch", "go on and print each change")
    .option("--show-managed-fields", "with -o json|yaml: leave managedFields in")
    .action(async (typed: string, name: string | undefined, o: GetOptions) => {
      const format = parseFormat(o.output);
      const { client, namespace } = await connect(o);
      try {
        const resource = await resolveResource(client, typed);
        const where = resource.namespaced && !o.allNamespaces ? namespace : undefined;
        if (name) await one(client, resource, { name, ...(where ? { namespace: where } : {}) }, format, o, print);
        else await many(client, resource, where, format, o, print);
        if (o.watch) await follow(client, resource, where, name, format, o, print);
      } finally {
        client.close();
      }
    });
}

async function one(c: KubeClient, r: Resource, key: ObjectKey, format: Format, o: GetOptions, print: Print) {
  if (format === "table" || format === "wide") {
    const table = await c.raw<Table>({ method: "GET", path: objectPath(r, key), accept: TABLE_ACCEPT });
    return print(layTable(table, { wide: format === "wide" }));
  }
  const object = await c.get<KubeObject>(r, key);
  print(format === "name" ? nameOf(r, object) : dump(object, format, { managedFields: o.showManagedFields === true }));
}

async function many(
  c: KubeClient,
  r: Resource,
  namespace: string | undefined,
  format: Format,
  o: GetOptions,
  print: Print,
) {
  const selectors = {
    ...(o.selector ? { labelSelector: o.selector } : {}),
    ...(o.fieldSelector ? { fieldSelector: o.fieldSelector } : {}),
  };
  if (format === "table" || format === "wide") {
    const path = `${collectionPath(r, namespace)}?${new URLSearchParams(selectors)}`;
    const table = await c.raw<Table>({ method: "GET", path, accept: TABLE_ACCEPT });
    if (table.rows.length === 0 && !o.watch) {
      return print(namespace ? `No ${r.plural} in namespace "${namespace}".` : `No ${r.plural}.`);
    }
    return print(layTable(table, { wide: format === "wide", namespaces: r.namespaced && namespace === undefined }));
  }
  const list = await c.list<KubeObject>(r, { ...(namespace ? { namespace } : {}), ...selectors });
  if (format === "name") return print(list.items.map((item) => nameOf(r, item)).join("\n"));
  print(dump(list, format, { managedFields: o.showManagedFields === true }));
}

async function follow(
  c: KubeClient,
  r: Resource,
  namespace: string | undefined,
  name: string | undefined,
  format: Format,
  o: GetOptions,
  print: Print,
) {
  const fields = [o.fieldSelector, name ? `metadata.name=${name}` : undefined].filter(Boolean).join(",");
  const events = await c.watch<KubeObject>(r, {
    ...(namespace ? { namespace } : {}),
    ...(o.selector ? { labelSelector: o.selector } : {}),
    ...(fields ? { fieldSelector: fields } : {}),
    // From now on: what was there has been printed.
    resourceVersion:
      (await c.list<KubeObject>(r, { limit: 1, ...(namespace ? { namespace } : {}) })).metadata.resourceVersion,
  });
  for await (const event of events) {
    if (event.type === "BOOKMARK" || event.type === "ERROR") continue;
    if (format === "name") print(nameOf(r, event.object));
    else if (format === "json" || format === "yaml") print(dump(event.object, format));
    else if (event.type === "DELETED") print(`${keyOf(event.object)} deleted`);
    else {
      const table = await c.raw<Table>({
        method: "GET",
        path: objectPath(r, event.object.metadata),
        accept: TABLE_ACCEPT,
      });
      print(
        layTable(table, { head: false, wide: format === "wide", namespaces: r.namespaced && namespace === undefined }),
      );
    }
  }
}

const nameOf = (r: Resource, object: KubeObject) =>
  `${r.plural}${r.group ? `.${r.group}` : ""}/${object.metadata.name}`;

function collectionPath(r: Resource, namespace: string | undefined): string {
  const base = r.group ? `/apis/${r.group}/${r.version}` : `/api/${r.version}`;
  return namespace ? `${base}/namespaces/${encodeURIComponent(namespace)}/${r.plural}` : `${base}/${r.plural}`;
}

function objectPath(r: Resource, key: ObjectKey): string {
  return `${collectionPath(r, key.namespace)}/${encodeURIComponent(key.name)}`;
}
