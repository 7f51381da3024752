import { checkTimeLimit } from '@lamella/core/authoring'

/**
 * Checks time limits, by the names of their options.
 * @throws RangeError for one that is not more than 0 milliseconds; `Infinity` is
 */
export function checkTimeLimits(
  owner: string,
  limits: Readonly<Record<string, number | undefined>>,
): void {
  for (const [name, ms] of Object.entries(limits)) {
    checkTimeLimit(owner, name, ms)
  }
}
