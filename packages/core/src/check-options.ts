/** What an option may be: one of a list, or a whole number from this one up. */
export type OptionRule = readonly string[] | number

/**
 * Checks options against rules by their names, which may be paths such as `stream.release`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function checkOptions(
  owner: string,
  options: object,
  rules: Readonly<Record<string, OptionRule>>,
): void {
  for (const [option, rule] of Object.entries(rules)) {
    let value: unknown = options
    for (const key of option.split('.'))
      value = (value as Record<string, unknown> | undefined)?.[key]
    if (value === undefined) continue
    const isCount = typeof rule === 'number'
    if (
      isCount
        ? !(Number.isInteger(value) && (value as number) >= rule)
        : !rule.includes(value as string)
    ) {
      throw wrongOption(
        owner,
        option,
        isCount ? `a whole number from ${rule} up` : `one of ${rule.join(', ')}`,
        value,
      )
    }
  }
}

/** The error for an option that is not what it must be. */
export function wrongOption(owner: string, option: string, rule: string, value: unknown): Error {
  const kind = typeof value === 'number' ? RangeError : TypeError
  const given = typeof value === 'number' ? value : (JSON.stringify(value) ?? typeof value)
  return new kind(`${owner}: \`${option}\` must be ${rule}, got ${given}`)
}
