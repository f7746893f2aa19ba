/** A Git repository of a test: write files, commit, push by hand. @module */
import { basename, dirname, join } from "node:path";

/** A repository on disk with the branch `main`. */
export class TestRepository {
  constructor(readonly folder: string) {}

  /** Makes one in a new folder below `parent`. */
  static async create(parent: string): Promise<TestRepository> {
    const repository = new TestRepository(await Deno.makeTempDir({ dir: parent, prefix: "repository-" }));
    await repository.git("init", "--quiet", "--initial-branch=main");
    return repository;
  }

  /** `file://` address. */
  get url(): string {
    return `file://${this.folder}`;
  }

  /** Name of its folder. */
  get name(): string {
    return basename(this.folder);
  }

  /** The commit that `main` points to. */
  async head(): Promise<string> {
    return (await this.git("rev-parse", "HEAD")).trim();
  }

  /** Writes files (path → text; null removes) and commits all; resolves to the commit. */
  async commit(files: Record<string, string | null>, message = "change"): Promise<string> {
    for (const [path, text] of Object.entries(files)) {
      const file = join(this.folder, path);
      if (text === null) await Deno.remove(file, { recursive: true });
      else {
        await Deno.mkdir(dirname(file), { recursive: true });
        await Deno.writeTextFile(file, text);
      }
    }
    await this.git("add", "--all");
    await this.git(
      ...["-c", "user.name=test", "-c", "user.email=test@convoy.invalid", "-c", "commit.gpgsign=false"],
      ...["commit", "--quiet", "--allow-empty", "-m", message],
    );
    return await this.head();
  }

  /** Runs git in the repository. @throws Error with what git said */
  async git(...args: string[]): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command("git", { args, cwd: this.folder }).output();
    if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  }
}
