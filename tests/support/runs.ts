/** True in `npm run check long`, which sets the environment variable `LAMELLA_TESTS` to `long`. */
// Other runtimes run these tests too. A browser has no `process`, and the bundle for them replaces `process.env`.
export const isLong: boolean =
  typeof process !== 'undefined' && process.env['LAMELLA_TESTS'] === 'long'

/** Returns how many cases a property test tries: all of them in `npm run check long`, a fifth in `npm test`. */
export function runs(many: number): number {
  return isLong ? many : Math.max(10, Math.ceil(many / 5))
}
