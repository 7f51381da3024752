/**
 * Checks time limits, by the names of their options.
 * @throws RangeError for one that is not more than 0 milliseconds; `Infinity` is
 */
export function checkTimeLimits(
  owner: string,
  limits: Readonly<Record<string, number | undefined>>,
): void {
  for (const [name, ms] of Object.entries(limits)) {
    if (ms !== undefined && !(ms > 0)) {
      throw new RangeError(`${owner}: \`${name}\` must be more than 0 milliseconds, got ${ms}`)
    }
  }
}
