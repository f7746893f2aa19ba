/** `convoy events`: what happened, newest last. @module */
import type { Command } from "commander";
import { EVENTS } from "../../shared/api/mod.ts";
import type { KubeObject } from "../../shared/kube/types.ts";
import { connect, type ConnectOptions } from "../connect.ts";
import { dump, type Format, FORMATS, layRows, parseFormat } from "../output.ts";
import { addConnectOptions, type Print } from "./shared.ts";

interface Event extends KubeObject {
  type?: string;
  reason?: string;
  message?: string;
  count?: number;
  firstTimestamp?: string;
  lastTimestamp?: string;
  eventTime?: string;
  involvedObject?: { kind?: string; name?: string; namespace?: string };
}

interface EventsOptions extends ConnectOptions {
  output: string;
  allNamespaces?: boolean;
  watch?: boolean;
}

/** Adds the command. */
export function addEvents(program: Command, print: Print): void {
  addConnectOptions(program.command("events"))
    .description("Show the events of a namespace, or of one Release.")
    .argument("[release]", "name of a Release")
    .option("-A, --all-namespaces", "in all namespaces")
    .option("-o, --output <format>", FORMATS.join("|"), "table")
    .option("-w, --watch", "go on and print each event")
    .action(async (release: string | undefined, o: EventsOptions) => {
      const format = parseFormat(o.output);
      const { client, namespace } = await connect(o);
      try {
        const where = {
          ...(o.allNamespaces ? {} : { namespace }),
          ...(release ? { fieldSelector: `involvedObject.kind=Release,involvedObject.name=${release}` } : {}),
        };
        const list = await client.list<Event>(EVENTS, where);
        list.items.sort((a, b) => timeOf(a).localeCompare(timeOf(b)));
        if (list.items.length > 0 || !o.watch) print(show(list.items, format, o, list));
        if (!o.watch) return;
        const events = await client.watch<Event>(EVENTS, { ...where, resourceVersion: list.metadata.resourceVersion });
        for await (const e of events) {
          if (e.type === "ADDED" || e.type === "MODIFIED") print(show([e.object], format, o, e.object, false));
        }
      } finally {
        client.close();
      }
    });
}

const timeOf = (e: Event) => e.lastTimestamp ?? e.eventTime ?? e.metadata.creationTimestamp ?? "";

function show(items: Event[], format: Format, o: EventsOptions, whole: unknown, head = true): string {
  if (format === "json" || format === "yaml") return dump(whole, format);
  if (format === "name") return items.map((e) => `events/${e.metadata.name}`).join("\n");
  if (items.length === 0) return "No events.";
  const rows = items.map((e) => [
    ...(o.allNamespaces ? [e.metadata.namespace ?? ""] : []),
    timeOf(e),
    e.type ?? "",
    e.reason ?? "",
    `${(e.involvedObject?.kind ?? "").toLowerCase()}/${e.involvedObject?.name ?? ""}`,
    ...(format === "wide" ? [String(e.count ?? 1), e.firstTimestamp ?? ""] : []),
    (e.message ?? "").replaceAll(/\s+/g, " "),
  ]);
  const heads = [
    ...(o.allNamespaces ? ["NAMESPACE"] : []),
    "LAST SEEN",
    "TYPE",
    "REASON",
    "OBJECT",
    ...(format === "wide" ? ["COUNT", "FIRST SEEN"] : []),
    "MESSAGE",
  ];
  return layRows(head ? [heads, ...rows] : rows);
}
