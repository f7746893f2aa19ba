/** What is wrong with manifests. @module */

/** One thing that is wrong or worth telling, with its place. Lines and columns count from 1; 0 = not known. */
export interface RenderProblem {
  file: string;
  line: number;
  column: number;
  message: string;
}

/** The manifests cannot be rendered. All problems are told; the first is in the message. No values of Secrets are. */
export class RenderError extends Error {
  override readonly name = "RenderError";
  constructor(readonly problems: readonly RenderProblem[], options?: ErrorOptions) {
    const [first] = problems;
    const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
    super(`Cannot render: ${first ? describe(first) : "nothing is known"}${more}`, options);
  }
  get file(): string {
    return this.problems[0]?.file ?? "";
  }
  get line(): number {
    return this.problems[0]?.line ?? 0;
  }
  get column(): number {
    return this.problems[0]?.column ?? 0;
  }
}

/** `file:line:column: message`, as far as known. */
export function describe(problem: RenderProblem): string {
  const { file, line, column, message } = problem;
  const place = line > 0 ? column > 0 ? `${file}:${line}:${column}` : `${file}:${line}` : file;
  return place ? `${place}: ${message}` : message;
}
