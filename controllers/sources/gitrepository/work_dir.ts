/** The folder for throw-away repositories. @module */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** Takes away what killed processes left there, credentials among it. */
export async function cleanWorkDir(workDir: string): Promise<void> {
  for (const name of await readdir(workDir).catch(() => [])) {
    const pid = Number(name.split("-")[0]);
    if (pid === Deno.pid || !isAlive(pid)) await rm(join(workDir, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return Number.isInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code === "EPERM";
  }
}
