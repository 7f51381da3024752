import type { ChatOptions } from '@lamella/core'
import { checkChatOptions } from '@lamella/core/authoring'

type Options = Readonly<Record<string, unknown>>

/** Options of a call that every client of an HTTP provider takes beside its own. */
export type SharedProviderOptions = {
  /**
   * Fields of the request body in the provider's format. They are merged into the body last and at
   * every depth; a list replaces a list, and `undefined` removes a field.
   */
  readonly extraBody?: Readonly<Record<string, unknown>> | undefined
  /** Headers of this request. */
  readonly extraHeaders?: Readonly<Record<string, string>> | undefined
  /** Parameters of the query of this request. */
  readonly extraQuery?: Readonly<Record<string, string>> | undefined
  /**
   * Milliseconds until the headers of the answer, for each attempt.
   * @default the client's
   */
  readonly timeoutMs?: number | undefined
  /** Adds the headers of the answer to its metadata, as `metadata.headers`. @default false */
  readonly responseHeaders?: boolean | undefined
}

/** Types of the options of a provider beside the shared ones, such as `string` or `array or object`. */
export type ProviderOptionTypes<Own> = Readonly<
  Record<Exclude<keyof Own, keyof SharedProviderOptions>, string>
>

const sharedTypes: Readonly<Record<keyof SharedProviderOptions, string>> = {
  extraBody: 'object',
  extraHeaders: 'object',
  extraQuery: 'object',
  timeoutMs: 'number',
  responseHeaders: 'boolean',
}

/**
 * The provider options of a call under these names, those of later names over those of earlier ones.
 * `aliases` are names that people give for one of them, by the name that counts. With `types`, the
 * options are checked.
 * @throws TypeError for a name that differs from one of them only in case, for an alias, for an option of
 * the call that is not known, and for an option of the provider that is unknown or of another type
 * @throws RangeError for a `timeoutMs` that is not more than 0
 */
export function ownProviderOptions<Own extends Options = Options>(
  options: ChatOptions,
  names: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
  types?: ProviderOptionTypes<Own>,
): Own {
  checkChatOptions(options)
  const { providerOptions = {} } = options
  for (const given of Object.keys(providerOptions)) {
    if (names.includes(given)) continue
    const lower = given.toLowerCase()
    const meant = Object.hasOwn(aliases, lower) ? aliases[lower] : lower
    if (meant !== undefined && names.includes(meant)) {
      throw new TypeError(
        `providerOptions: unknown provider \`${given}\`; did you mean \`${meant}\`?`,
      )
    }
  }
  const own: Own = Object.assign({}, ...names.map((name) => providerOptions[name]))
  if (types !== undefined) {
    for (const [option, value] of Object.entries(own)) {
      const named = names.findLast((name) => Object.hasOwn(providerOptions[name] ?? {}, option))
      checkOption(`providerOptions.${named}`, option, value, { ...sharedTypes, ...types })
    }
  }
  return own
}

function checkOption(
  place: string,
  option: string,
  value: unknown,
  types: Readonly<Record<string, string>>,
): void {
  const type = Object.hasOwn(types, option) ? types[option]! : undefined
  if (type === undefined) {
    throw new TypeError(
      `${place}: unknown option \`${option}\`; fields of the request go under \`extraBody\``,
    )
  }
  if (value === undefined) return
  const got = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
  if (!type.split(' or ').includes(got)) {
    throw new TypeError(`${place}: \`${option}\` must be of type ${type}, got ${got}`)
  }
  if (option === 'timeoutMs' && !(Number(value) > 0)) {
    throw new RangeError(
      `${place}: \`timeoutMs\` must be more than 0 milliseconds, got ${Number(value)}`,
    )
  }
}
