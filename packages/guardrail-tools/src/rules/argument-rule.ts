/** Rule for one argument of a tool call. */
export interface ArgumentRule {
  /** Returns what is wrong with a value, without the value itself; nothing when the rule holds. */
  readonly check: (value: unknown) => string | undefined | Promise<string | undefined>
  /**
   * Action when the rule does not hold.
   * @default 'deny'
   */
  readonly otherwise?: 'deny' | 'ask' | undefined
}

/** Has a person decide where a rule does not hold: `ask(range({ max: 100 }))`. */
export function ask(rule: ArgumentRule): ArgumentRule {
  return { ...rule, otherwise: 'ask' }
}

/** A number between two others, both allowed. */
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

/** One of these values. */
export function oneOf(...values: readonly unknown[]): ArgumentRule {
  return { check: (value) => (values.includes(value) ? undefined : 'is not one of those allowed') }
}

/** A text that matches, or that does not match. Patterns are searched for anywhere in the text. */
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

/** A text or a list of no more than so many characters or entries. */
export function maxLength(max: number): ArgumentRule {
  return {
    check: (value) => {
      const { length } = (value ?? {}) as { length?: unknown }
      return typeof length === 'number' && length <= max ? undefined : `is longer than ${max}`
    },
  }
}

/** A pattern that searches from the start each time. */
function stateless({ source, flags }: RegExp): RegExp {
  return new RegExp(source, flags.replace(/[gy]/g, ''))
}

/** The values at a path such as `to`, `options.file` or `files.*`; arguments that are not there have none. */
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
