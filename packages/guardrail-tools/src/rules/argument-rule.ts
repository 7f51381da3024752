/** Rule for one argument of a tool call. */
export interface ArgumentRule {
  /** Returns the problem of a value, without the value itself; undefined if the rule holds. */
  readonly check: (value: unknown) => string | undefined | Promise<string | undefined>
  /**
   * Action when the rule does not hold.
   * @default 'deny'
   */
  readonly otherwise?: 'deny' | 'ask' | undefined
}

/**
 * Asks a person if a rule does not hold.
 * @example
 * ```ts
 * import { ask, range } from '@lamella/guardrail-tools'
 *
 * const rule = ask(range({ max: 100 }))
 * console.log(rule.otherwise, rule.check(500)) // ask must be a number, not more than 100
 * ```
 */
export function ask(rule: ArgumentRule): ArgumentRule {
  return { ...rule, otherwise: 'ask' }
}

/**
 * Requires a number between two others, both included.
 * @example
 * ```ts
 * import { range } from '@lamella/guardrail-tools'
 *
 * console.log(range({ min: 1, max: 100 }).check(50)) // undefined
 * ```
 */
export function range({
  min = -Infinity,
  max = Infinity,
}: {
  min?: number
  max?: number
}): ArgumentRule {
  const bounds = [
    ...(min > -Infinity ? [`not less than ${min}`] : []),
    ...(max < Infinity ? [`not more than ${max}`] : []),
  ]
  return {
    check: (value) => {
      const isIn = typeof value === 'number' && value >= min && value <= max
      return isIn ? undefined : `must be a number, ${bounds.join(' and ')}`
    },
  }
}

/** Requires one of these values. */
export function oneOf(...values: readonly unknown[]): ArgumentRule {
  return { check: (value) => (values.includes(value) ? undefined : 'is not one of those allowed') }
}

/** Requires a text that matches `match` and does not match `deny`, anywhere in the text. */
export function regex({ match, deny }: { match?: RegExp; deny?: RegExp }): ArgumentRule {
  const [wanted, unwanted] = [match, deny].map((pattern) => pattern && stateless(pattern))
  return {
    check: (value) => {
      if (typeof value !== 'string') return 'must be a text'
      const isRight = (wanted?.test(value) ?? true) && unwanted?.test(value) !== true
      return isRight ? undefined : 'has a form that is not allowed'
    },
  }
}

/** Requires a text or a list of at most `max` characters or entries. */
export function maxLength(max: number): ArgumentRule {
  return {
    check: (value) => {
      const { length } = (value ?? {}) as { length?: unknown }
      return typeof length === 'number' && length <= max ? undefined : `is longer than ${max}`
    },
  }
}

/** Copies a pattern without the flags that keep `lastIndex`. */
function stateless({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.replace(/[gy]/g, ''))
}

/** Returns the values at a path such as `to`, `options.file` or `files.*`; none for missing arguments. */
export function valuesAt(args: unknown, path: string): readonly unknown[] {
  let values: readonly unknown[] = [args]
  for (const key of path.split('.')) {
    values = values.flatMap((value) => {
      if (typeof value !== 'object' || value === null) return []
      if (key === '*') return Object.values(value)
      return Object.hasOwn(value, key) ? [(value as Record<string, unknown>)[key]] : []
    })
  }
  return values.filter((value) => value !== undefined)
}
