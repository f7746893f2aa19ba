/** The part of the package `semver` that is used here; it has no types of its own. */
export class SemVer {
  readonly version: string;
  readonly prerelease: readonly (string | number)[];
}
export interface Comparator {
  readonly semver: { readonly prerelease?: readonly (string | number)[] };
}
export class Range {
  constructor(range: string, options?: { includePrerelease?: boolean });
  readonly set: readonly (readonly Comparator[])[];
  test(version: SemVer): boolean;
}
declare const semver: {
  Range: typeof Range;
  parse(text: string): SemVer | null;
  compare(a: SemVer, b: SemVer): -1 | 0 | 1;
};
export default semver;
