/** `convoy api crds` and `convoy version`. @module */
import type { Command } from "commander";
import { customResourceDefinitions } from "../../shared/api/mod.ts";
import { stringifyJson } from "../../shared/json/mod.ts";
import { toYaml } from "../../shared/yaml/mod.ts";
import { dump, parseFormat, UsageError } from "../output.ts";
import type { Print } from "./shared.ts";

/** Adds `api`. */
export function addApi(program: Command, print: Print): void {
  const api = program.command("api").description("Convoy's kinds.");
  api.command("crds")
    .description("Print the kinds as CustomResourceDefinitions, for a real kube-apiserver.")
    .argument("[plural]", "only these")
    .option("-o, --output <format>", "yaml|json|name", "yaml")
    .action((plural: string | undefined, o: { output: string }) => {
      const format = parseFormat(o.output, ["yaml", "json", "name"] as const);
      const all = customResourceDefinitions();
      const wanted = plural ? all.filter((c) => (c.metadata as { name: string }).name.split(".")[0] === plural) : all;
      if (wanted.length === 0) throw new UsageError(`Cannot find the kind "${plural}"`);
      if (format === "name") return print(wanted.map((c) => (c.metadata as { name: string }).name).join("\n"));
      if (format === "json") {
        return print(stringifyJson({ apiVersion: "v1", kind: "List", metadata: {}, items: wanted }, 2));
      }
      print(wanted.map((c) => toYaml(c as never).trimEnd()).join("\n---\n"));
    });
}

/** What a build says of itself. */
export interface Version {
  convoy: string;
  deno: string;
  platform: string;
}

/** Adds `version`. */
export function addVersion(program: Command, print: Print, version: Version): void {
  program.command("version")
    .description("Print the version.")
    .option("-o, --output <format>", "table|json|yaml|name", "table")
    .action((o: { output: string }) => {
      const format = parseFormat(o.output, ["table", "json", "yaml", "name"] as const);
      if (format === "name") print(version.convoy);
      else if (format === "table") print(`convoy ${version.convoy} (deno ${version.deno}, ${version.platform})`);
      else print(dump(version, format));
    });
}
