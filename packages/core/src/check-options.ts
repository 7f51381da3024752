/**
 * What an option is: one of a list, a whole number from this one up, or of this type and required,
 * unless the type has a question mark.
 */
export type OptionRule =
  | readonly unknown[]
  | number
  | 'string'
  | 'function'
  | 'string?'
  | 'function?'

/**
 * Checks options by rules for their names, which may be paths such as `stream.release`.
 * @throws TypeError or RangeError that names the option and the value
 */
export function checkOptions(
  owner: string,
  options: object,
  rules: Readonly<Record<string, OptionRule>>,
): void {
  for (const [option, rule] of Object.entries(rules)) {
    let value: unknown = options
    for (const key of option.split('.')) value = (value as Record<string, unknown>)?.[key]
    if (typeof rule === 'string') {
      const [type, isOptional] = [rule.replace('?', ''), rule.endsWith('?')]
      if (isOptional && value === undefined) continue
      if (!value || typeof value !== type) throw wrongOption(owner, option, `a ${type}`, value)
    } else if (value === undefined) continue
    else if (typeof rule !== 'number') {
      const wish = `one of ${rule.join(', ')}`
      if (!rule.includes(value)) throw wrongOption(owner, option, wish, value)
    } else if (!Number.isInteger(value) || (value as number) < rule) {
      throw wrongOption(owner, option, `a whole number from ${rule} up`, value)
    }
  }
}

/** The error for an option that is not what it must be. */
export function wrongOption(owner: string, option: string, wish: string, value: unknown): Error {
  const given = typeof value === 'number' ? value : (JSON.stringify(value) ?? typeof value)
  const message = `${owner}: \`${option}\` must be ${wish}, got ${given}`
  return typeof value === 'number' ? new RangeError(message) : new TypeError(message)
}
