import { isObject } from './is-object.ts'
import { nearestName } from './nearest-name.ts'

/**
 * What an option is: one of a list, a whole number from this one up, of this type and required,
 * unless the type has a question mark, or anything.
 */
export type OptionRule =
  | readonly unknown[]
  | number
  | 'string'
  | 'function'
  | 'string?'
  | 'function?'
  | 'any'

/**
 * A rule for each option, so that the compiler misses one that is left out. An object of options has rules
 * of its own. A path such as `store.get` is about an object that may have more in it.
 */
export type OptionRules<Options> = {
  readonly [Name in keyof Options]-?: OptionRule | NestedRules<Options[Name]>
} & { readonly [path: `${string}.${string}`]: OptionRule }

type NestedRules<Value> = Value extends readonly unknown[] | ((...args: never) => unknown)
  ? never
  : Value extends object
    ? OptionRules<Value>
    : never

/**
 * Checks options by their rules. One without a rule is unknown.
 * @throws TypeError or RangeError that names the option and the value, of an unknown one only the name
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  rules: OptionRules<NoInfer<Options>>,
): void {
  check(owner, options, rules, '')
}

interface Rules {
  readonly [option: string]: OptionRule | Rules
}

function check(owner: string, options: object, rules: Rules, place: string): void {
  const names = Object.keys(rules).filter((name) => !name.includes('.'))
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined || names.includes(name)) continue
    const nearest = nearestName(name, names)
    const hint = nearest === undefined ? '' : `; did you mean \`${place}${nearest}\`?`
    throw new TypeError(`${owner}: unknown option \`${place}${name}\`${hint}`)
  }
  for (const [name, rule] of Object.entries(rules)) {
    const option = place + name
    let value: unknown = options
    for (const key of name.split('.')) value = (value as Record<string, unknown>)?.[key]
    if (typeof rule === 'string') {
      const [type, isOptional] = [rule.replace('?', ''), rule.endsWith('?')]
      if (rule === 'any' || (isOptional && value === undefined)) continue
      if (!value || typeof value !== type) throw wrongOption(owner, option, `a ${type}`, value)
    } else if (value === undefined) continue
    else if (typeof rule === 'number') {
      if (!Number.isInteger(value) || (value as number) < rule) {
        throw wrongOption(owner, option, `a whole number from ${rule} up`, value)
      }
    } else if (isList(rule)) {
      const wish = `one of ${rule.join(', ')}`
      if (!rule.includes(value)) throw wrongOption(owner, option, wish, value)
    } else if (isObject(value)) check(owner, value, rule, `${option}.`)
  }
}

function isList(rule: readonly unknown[] | Rules): rule is readonly unknown[] {
  return Array.isArray(rule)
}

/** The error for an option that is not what it must be. */
export function wrongOption(owner: string, option: string, wish: string, value: unknown): Error {
  const given = typeof value === 'number' ? value : (JSON.stringify(value) ?? typeof value)
  const message = `${owner}: \`${option}\` must be ${wish}, got ${given}`
  return typeof value === 'number' ? new RangeError(message) : new TypeError(message)
}
