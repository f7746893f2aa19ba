/** Files that hold credentials: written whole or not at all, readable by the owner only. @module */
import { dirname } from "node:path";

/** Writes aside, syncs, renames. The folder is made when missing. `mode` is that of the file. */
export async function writeFileAtomic(path: string, text: string, mode = 0o600): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const aside = `${path}.${crypto.randomUUID()}.new`;
  try {
    const file = await Deno.open(aside, { write: true, createNew: true, mode });
    try {
      const bytes = new TextEncoder().encode(text);
      for (let done = 0; done < bytes.length;) done += await file.write(bytes.subarray(done));
      await file.sync();
    } finally {
      file.close();
    }
    await Deno.rename(aside, path);
  } catch (error) {
    await Deno.remove(aside).catch(() => {});
    throw error;
  }
}

/** The file's text; undefined when there is none. */
export async function readFileIfThere(path: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
