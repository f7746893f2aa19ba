/** A real Git repository for tests. @module */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A bare repository and a clone to make commits in. */
export class GitFixture {
  #time = 1_700_000_000;
  private constructor(readonly folder: string) {}

  /** Where the bare repository lies. */
  get bare(): string {
    return join(this.folder, "repo.git");
  }
  get url(): string {
    return `file://${this.bare}`;
  }

  static async make(format: "sha1" | "sha256" = "sha1"): Promise<GitFixture> {
    const fixture = new GitFixture(await mkdtemp(join(tmpdir(), "convoy-git-")));
    await fixture.run(fixture.folder, "init", "-q", `--object-format=${format}`, "--bare", "-b", "main", fixture.bare);
    await fixture.run(fixture.bare, "config", "uploadpack.allowFilter", "true");
    await fixture.run(fixture.folder, "init", "-q", `--object-format=${format}`, "-b", "main", "work");
    await fixture.git("remote", "add", "origin", fixture.bare);
    return fixture;
  }

  /** git in the working copy; resolves to its output. */
  git(...args: string[]): Promise<string> {
    return this.run(join(this.folder, "work"), ...args);
  }

  async run(cwd: string, ...args: string[]): Promise<string> {
    const date = `${this.#time} +0000`;
    const { success, stdout, stderr } = await new Deno.Command("git", {
      args: ["-c", "user.name=T", "-c", "user.email=t@example.org", ...args],
      cwd,
      env: { GIT_CONFIG_GLOBAL: "/dev/null", GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    }).output();
    if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout).trim();
  }

  /** Writes files (a value `-> x` is a link), commits a minute later than before, and pushes; resolves to the commit. */
  async commit(files: Record<string, string>, ...push: string[]): Promise<string> {
    this.#time += 60;
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.folder, "work", path);
      await mkdir(dirname(file), { recursive: true });
      await rm(file, { force: true });
      if (content.startsWith("-> ")) await symlink(content.slice(3), file);
      else await writeFile(file, content);
    }
    await this.git("add", "-A");
    await this.git("commit", "-q", "--allow-empty", "-m", "change");
    await this.git("push", "-q", "--force", "origin", ...(push.length > 0 ? push : ["HEAD:main"]));
    return await this.git("rev-parse", "HEAD");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
