import { isThenable } from './promises.ts'
import { isObject } from './plain-data.ts'

/**
 * Rule for an option: a list of allowed values, a minimum for a whole number, a type (required
 * unless it ends in a question mark), `ms` for a time limit (above 0, however large; `Infinity` is no
 * limit), or `any`.
 */
export type OptionRule =
  | readonly unknown[]
  | number
  | 'string'
  | 'function'
  | 'string?'
  | 'function?'
  | 'ms'
  | 'any'

/**
 * One rule per option; the compiler reports missing ones. An object of options has nested rules, and may be a
 * boolean instead: where it may be a string, choose the rule by the value. A path such as `store.get` checks one
 * member of an object that may have others.
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
 * Checks options by their rules. An option without a rule is unknown and throws; `elsewhere` has hints
 * for those that belong to another place.
 * @throws TypeError or RangeError that names the option and the value, of an unknown one only the
 * name
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  rules: OptionRules<NoInfer<Options>>,
  elsewhere: Readonly<Record<string, string>> = {},
): void {
  check(owner, options, rules, '', elsewhere)
}

interface Rules {
  readonly [option: string]: OptionRule | Rules
}

function check(owner: string, options: object, rules: Rules, at: string, elsewhere = {}): void {
  const names = Object.keys(rules).filter((name) => !name.includes('.'))
  checkNames(owner, options, names, elsewhere, at)
  for (const [name, rule] of Object.entries(rules)) {
    const option = at + name
    let value: unknown = options
    for (const key of name.split('.')) value = (value as Record<string, unknown>)?.[key]
    if (rule === 'ms') checkTimeLimit(owner, option, value)
    else if (typeof rule === 'string') {
      const type = rule.replace('?', '')
      if (rule === 'any' || (type !== rule && value === undefined)) continue
      if (!value || typeof value !== type) throw wrongOption(owner, option, `a ${type}`, value)
    } else if (value === undefined) continue
    else if (typeof rule === 'number') {
      if (!Number.isInteger(value) || (value as number) < rule) {
        throw wrongOption(owner, option, `a whole number from ${rule} up`, value)
      }
    } else if (Array.isArray(rule)) {
      const wish = `one of ${rule.join(', ')}`
      if (!rule.includes(value)) throw wrongOption(owner, option, wish, value)
    } else if (isObject(value)) check(owner, value, rule as Rules, `${option}.`)
    else if (typeof value !== 'boolean') throw wrongOption(owner, option, 'an object', value)
  }
}

/**
 * Throws for an unknown option, with the name that was probably meant, or all names. `elsewhere` has
 * hints for options that belong to another place; `place` is what stands before the names in the error.
 * @throws TypeError that names the option
 */
export function checkNames(
  owner: string,
  options: object | undefined,
  names: readonly string[],
  elsewhere: Readonly<Record<string, string>> = {},
  place = '',
): void {
  if (options !== undefined && !isObject(options)) {
    throw new TypeError(`${owner}: the options must be an object, got ${described(options)}`)
  }
  for (const [name, value] of Object.entries(options ?? {})) {
    if (value === undefined || names.includes(name) || elsewhere[name] === '') continue
    const known = [...names, ...Object.keys(elsewhere)]
    const meant = known.includes(name) ? name : (synonymOf(name, known) ?? nearestName(name, names))
    const list = names.map((other) => `\`${place}${other}\``).join(', ')
    const hint =
      meant === undefined
        ? `the options are ${list}`
        : (!names.includes(meant) && elsewhere[meant]) || `did you mean \`${place}${meant}\`?`
    throw new TypeError(`${owner}: unknown option \`${place}${name}\`; ${hint}`)
  }
}

/**
 * Checks a time limit in milliseconds: a number above 0, or from 0 up, however large; `Infinity` is
 * no limit. `undefined` passes.
 * @throws RangeError or TypeError that names the option and the value
 */
export function checkTimeLimit(
  owner: string,
  option: string,
  ms: unknown,
  least: 'more than 0' | '0 or more' = 'more than 0',
): void {
  if (ms === undefined) return
  const isTime = typeof ms === 'number' && (ms > 0 || (least === '0 or more' && ms === 0))
  if (!isTime) throw wrongOption(owner, option, `${least} milliseconds`, ms)
}

/**
 * Makes the error for an option with a wrong value. It says what an object is, not what it holds, nor
 * what a string is that may be a secret.
 */
export function wrongOption(
  owner: string,
  option: string,
  wish: string,
  value: unknown,
  isSecret = false,
): Error {
  const message = `${owner}: \`${option}\` must be ${wish}, got ${described(value, isSecret)}`
  return typeof value === 'number' ? new RangeError(message) : new TypeError(message)
}

/**
 * Throws unless `ok`, saying what `value` is: an object by its kind alone.
 * @throws RangeError for a value of the right `type`, TypeError for any other
 */
export function checkValue(
  ok: boolean,
  option: string,
  rule: string,
  value: unknown,
  type?: string,
): void {
  if (ok) return
  const Kind = typeof value === type ? RangeError : TypeError
  throw new Kind(`${option} must ${rule}, got ${described(value)}`)
}

/** Describes a value in an error: an object by its kind alone, and a string that may be a secret as well. */
export function described(value: unknown, isSecret = false): string {
  if (typeof value === 'string' && !(isSecret && value)) return JSON.stringify(value)
  const kind = Array.isArray(value) ? 'list' : isThenable(value) ? 'promise' : typeof value
  if (value !== Object(value) && kind !== 'string') return String(value)
  return `${kind === 'object' ? 'an' : 'a'} ${kind}`
}

/** Names for one thing in this field. The first ones of a group are ours. */
const synonyms = `
  instructions system systemPrompt systemMessage prompt messageModifier; name id; client llm
  tools handoffs agents subagents; parameters inputSchema schema; toolChoice tool_choice
  execute check handler func fn invoke run validate; data context runtimeContext requestContext configurable
  middleware guardrails inputGuardrails outputGuardrails inputProcessors outputProcessors hooks plugins callbacks
  maxIterations maxSteps maxTurns stopWhen recursionLimit; signal abortSignal; store checkpointer
  session memory thread threadId sessionId conversationId; principal userId; approval needsApproval
  responseFormat output outputType outputSchema response_format; options modelSettings; maxOutputTokens max_tokens
  ask approve; applyTo stages stage on; entities types; strategy action redact; clients models fallbacks; limits maxCost maxTokens
  maxRetries retries attempts maxAttempts; initialDelayMs delay delayMs backoff; timeoutMs totalMs ms
`
  .split(/[\n;]/)
  .map((group) => group.trim().split(' '))

/** The known name that means the same as this one. */
function synonymOf(name: string, known: readonly string[]): string | undefined {
  const same = synonyms.filter((group) => group.includes(name)).flat()
  return same.find((other) => known.includes(other))
}

/** The name that has at least half of its pairs of neighbouring letters in common with this one. */
function nearestName(name: string, names: readonly string[]): string | undefined {
  const own = pairsOf(name)
  const ranked = names
    .map((other) => {
      const pairs = pairsOf(other)
      const shared = own.filter((pair) => pairs.includes(pair))
      return { other, likeness: (2 * shared.length) / (own.length + pairs.length) }
    })
    .toSorted((a, b) => b.likeness - a.likeness)
  return ranked.find(({ likeness }) => likeness >= 0.5)?.other
}

/** The start and the end of the name count as letters. */
function pairsOf(name: string): readonly string[] {
  const letters = `^${name.toLowerCase()}$`
  return Array.from(letters.slice(1), (letter, at) => letters[at] + letter)
}
