import type { Clock, OptionRules } from '@lamella/core/authoring'
import { checkOptions, systemClock, wrongOption } from '@lamella/core/authoring'
import { anyOf } from '../base/any-of.ts'
import type { Encoding } from '../base/decode.ts'
import { encodings } from '../base/decode.ts'
import type { Detection, DetectorOptions } from './detector.ts'
import { detect } from './detector.ts'
import type { Entity } from '../recognizers/entities.ts'
import { defaultEntities, entityNames, kindsOf, recognizersOf } from '../recognizers/entities.ts'
import { isInIdentifier } from '../base/exemptions.ts'
import type { Recognizer } from '../base/recognizer.ts'
import { patternRecognizer } from '../base/recognizer.ts'

/** Options of {@link findPii}. */
export interface FindPiiOptions {
  /**
   * Groups and kinds to find, and your own recognizers.
   * @default ['contact', 'financial', 'gov-id-us', 'network', 'secrets']
   */
  readonly entities?: readonly Entity[] | undefined
  /**
   * Minimum certainty of a find, from 0 to 1, for all kinds or by kind.
   * @default 0.6
   */
  readonly threshold?: number | Readonly<Record<string, number>> | undefined
  /**
   * Countries (ISO 3166-1) whose phone numbers are found in national form, also as bare digits.
   * @default none; numbers with a country code and in North American form are found anyway
   */
  readonly regions?: readonly string[] | undefined
  /** Raises the certainty by words nearby, such as `phone` and `card`. @default true */
  readonly context?: boolean | undefined
  /** Checks checksums. @default true */
  readonly validators?: boolean | undefined
  /** Ignores parts of UUIDs, hashes and times. @default true */
  readonly exemptIdentifiers?: boolean | undefined
  /** Values that are ignored. A pattern must match the whole value. @default none */
  readonly allow?: readonly (string | RegExp)[] | undefined
  /** Texts that are always found as kind `denied`, in any case. @default none */
  readonly deny?: readonly string[] | undefined
  /** Encodings that are decoded to find data inside. @default [] */
  readonly decode?: readonly Encoding[] | undefined
  /** Maximum number of nested encodings. @default 2 */
  readonly maxDepth?: number | undefined
  /** Maximum length of a decoded word in bytes. @default 65536 */
  readonly maxBytes?: number | undefined
  /**
   * Maximum wall-clock time in milliseconds for every 10,000 characters or part of them. Exceeding
   * it is a failure of the guardrail. It is checked between two recognizers and limits your own
   * patterns: the built-in ones need a few milliseconds.
   * @default 5000
   */
  readonly maxScanMs?: number | undefined
  /** Clock for `maxScanMs`. @default the machine's */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/**
 * Finds personal data and secrets in a text, in its order and without overlaps.
 * @throws TypeError or RangeError that names the option and the value
 */
export function findPii(text: string, options: FindPiiOptions = {}): readonly Detection[] {
  checkOptions('findPii', options, findRules)
  return detect(text, detectorOptions('findPii', options))
}

export const findRules: OptionRules<FindPiiOptions> = {
  entities: 'any',
  threshold: 'any',
  regions: 'any',
  context: [true, false],
  validators: [true, false],
  exemptIdentifiers: [true, false],
  allow: 'any',
  deny: 'any',
  decode: 'any',
  maxDepth: 1,
  maxBytes: 1,
  maxScanMs: 'ms',
  clock: 'any',
}

/** Checks the options and fills in defaults. */
export function detectorOptions(owner: string, options: FindPiiOptions): DetectorOptions {
  const { threshold = 0.6, allow = [], deny = [], clock = systemClock } = options
  const { exemptIdentifiers = true, decode = [], regions = [] } = options
  checkFindOptions(owner, options)
  const entities = options.entities ?? defaultEntities
  const recognizers = new Map<string, Recognizer>()
  for (const entity of entities) {
    const known = recognizersOf(entity)
    if (known === undefined) {
      throw wrongOption(
        owner,
        'entities',
        `some of ${entityNames.join(', ')}, or recognizers`,
        entity,
      )
    }
    const isOwn = typeof entity === 'object'
    for (const one of known) recognizers.set(one.kind, isOwn ? withRoom(one) : one)
  }
  if (deny.length > 0) recognizers.set('denied', denied(deny))
  const allowed = new Set(allow.filter((value) => typeof value === 'string').map(folded))
  const patterns = allow
    .filter((value) => typeof value !== 'string')
    .map(({ source, flags }) => new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, '')))
  const isOursAlone =
    deny.length + decode.length === 0 &&
    options.validators !== false &&
    entities.every((entity) => typeof entity === 'string')
  const least = typeof threshold === 'number' ? {} : byKind(threshold)

  return {
    recognizers: [...recognizers.values()],
    threshold: (kind) => (typeof threshold === 'number' ? threshold : (least[kind] ?? 0.6)),
    contextScore: options.context === false ? 0 : 0.35,
    validate: options.validators ?? true,
    regions,
    decode,
    maxDepth: decode.length > 0 ? (options.maxDepth ?? 2) : 0,
    maxBytes: options.maxBytes ?? 65_536,
    clue: isOursAlone ? clue : undefined,
    maxScanMs: options.maxScanMs ?? 5000,
    clock,
    isExempt: (match, kind, text, start, end) =>
      kind !== 'denied' &&
      (allowed.has(folded(match)) ||
        patterns.some((pattern) => pattern.test(match)) ||
        (exemptIdentifiers && kind !== 'secret' && isInIdentifier(text, start, end))),
  }
}

/** Applies values of groups to their kinds. The value of a kind itself wins. */
export function byKind<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  const spread: Record<string, T> = Object.create(null)
  for (const [name, value] of Object.entries(values)) {
    for (const kind of kindsOf(name)) spread[kind] ??= value
  }
  return Object.assign(spread, values)
}

/**
 * Matches within every find of a built-in recognizer: a long word, two digits near each other, a digit and a
 * capital in one word, a sign of an address or of a value, a word for a password or in quotes, or three pairs of
 * hexadecimal digits.
 */
const clue =
  /(?:^|\s)\S{12}|\d(?:[ ./()\u2010-\u2013-]{0,3}\d|\S{0,10}[A-Z\d])|[A-Z]\S{0,10}\d|[@:=[(]|[Pp][Aa][Ss][Ss]|[Pp][Ww][Dd]|\.[^\s.]|--|["'][^\s"']{4,}["']|[\da-fA-F]{2} [\da-fA-F]{2} [\da-fA-F]{2}/

const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

/** Makes a stream hold back the word after a match, if that word may decide about it. */
function withRoom(recognizer: Recognizer): Recognizer {
  const { kind, context, maxChars } = recognizer
  if (context === undefined) return recognizer
  const find: Recognizer['find'] = (text, options) => recognizer.find(text, options)
  return { kind, context, find, maxChars: (maxChars ?? 64) + 36 }
}

function denied(texts: readonly string[]): Recognizer {
  return patternRecognizer({
    kind: 'denied',
    pattern: anyOf(texts, 'iu', String.raw`[\p{L}\d_]`),
    score: 1,
    maxChars: Math.max(...texts.map(({ length }) => length)),
  })
}

function checkFindOptions(owner: string, options: FindPiiOptions): void {
  for (const option of ['entities', 'regions', 'allow', 'deny', 'decode'] as const) {
    const list: unknown = options[option] ?? []
    if (!Array.isArray(list)) throw wrongOption(owner, option, 'a list', list)
  }
  const { threshold = 0.6, regions = [], decode = [], deny = [], allow = [] } = options
  const certainties = typeof threshold === 'number' ? [threshold] : Object.values(threshold)
  for (const value of certainties) {
    if (!(value >= 0 && value <= 1)) throw wrongOption(owner, 'threshold', 'from 0 to 1', value)
  }
  for (const region of regions) {
    if (!/^[A-Z]{2}$/.test(region)) throw wrongOption(owner, 'regions', 'codes such as DE', region)
  }
  for (const value of decode) checkOptions(owner, { decode: value }, { decode: encodings })
  for (const value of deny) {
    if (typeof value !== 'string' || value === '') {
      throw wrongOption(owner, 'deny', 'texts that are not empty', value)
    }
  }
  for (const value of allow) {
    if (typeof value !== 'string' && !(value instanceof RegExp)) {
      throw wrongOption(owner, 'allow', 'texts and patterns', value)
    }
  }
}
