/** When to look again at something that comes by itself. @module */

/** 250 ms, doubled with each look in vain up to `max`, spread by up to a fifth. */
export function lookAgain(looks: number, max: number, random: () => number = Math.random): number {
  return Math.min(max, 250 * 2 ** Math.min(looks, 20)) * (0.9 + 0.2 * random());
}
