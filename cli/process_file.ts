/** A deployment file: the processes of a layout, as `deploy/three-processes.yaml` writes them. @module */
import * as z from "zod";
import { parseYaml } from "../shared/yaml/mod.ts";
import { UsageError } from "./output.ts";

const processSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/),
  /** Arguments of `convoy`. */
  args: z.array(z.string()).min(1),
  replicas: z.number().int().min(1).max(100).default(1),
  /** Name of the process that must be ready first. */
  after: z.string().optional(),
});

const fileSchema = z.strictObject({
  defaults: z.record(z.string(), z.string()).default({}),
  processes: z.array(processSchema).min(1),
});

/** One process to start. */
export interface ProcessSpec {
  /** `observer`, or `controller-manager-1` where there are replicas. */
  name: string;
  args: string[];
  /** Name in the file of the process that must be ready before. */
  after?: string;
  /** Name in the file. */
  group: string;
}

/** Reads a deployment file and fills in its variables. @throws UsageError naming file and field */
export function parseProcessFile(text: string, file: string, variables: Record<string, string>): ProcessSpec[] {
  let raw: unknown;
  try {
    raw = parseYaml(text, { file }).value;
  } catch (error) {
    throw new UsageError(`Cannot read the deployment file: ${(error as Error).message}`);
  }
  const parsed = fileSchema.safeParse(raw);
  if (!parsed.success) {
    const first = parsed.error.issues[0]!;
    throw new UsageError(
      `Cannot use the deployment file "${file}": ${first.path.join(".") || "the file"}: ${first.message}`,
    );
  }
  const names = new Set(parsed.data.processes.map((p) => p.name));
  const values = { ...parsed.data.defaults, ...variables };
  return parsed.data.processes.flatMap((p) => {
    if (p.after !== undefined && (!names.has(p.after) || p.after === p.name)) {
      throw new UsageError(
        `Cannot use the deployment file "${file}": process "${p.name}": after names no other process: "${p.after}"`,
      );
    }
    return Array.from({ length: p.replicas }, (_, i) => ({
      name: p.replicas === 1 ? p.name : `${p.name}-${i}`,
      group: p.name,
      args: p.args.map((arg) => fill(arg, { ...values, REPLICA: String(i) }, file)),
      ...(p.after === undefined ? {} : { after: p.after }),
    }));
  });
}

function fill(text: string, values: Record<string, string>, file: string): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) {
      throw new UsageError(
        `Cannot use the deployment file "${file}": the variable ${name} has no value; give --set ${name}=VALUE`,
      );
    }
    return value;
  });
}
