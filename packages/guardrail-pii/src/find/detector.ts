import { LamellaError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { normalizeText, readMarkup } from '@lamella/text'
import type { Encoding } from '../base/decode.ts'
import { encodedStretches } from '../base/decode.ts'
import { percentReading } from '../base/percent-reading.ts'
import type { FindOptions, Recognizer } from '../base/recognizer.ts'
import { plainAscii } from '../base/separators.ts'
import { surroundings } from '../base/surroundings.ts'

/** Personal data in a text. Offsets are in UTF-16 units. */
export interface Detection {
  /** Kind, such as `email`. */
  readonly kind: string
  /** Index of the first unit. */
  readonly start: number
  /** Index behind the last unit. */
  readonly end: number
  /** Certainty from 0 to 1. */
  readonly score: number
}

/** Finds data without a pattern, such as names of people, by your own service or model. */
export type DetectPii = (
  text: string,
  context: { readonly signal: AbortSignal },
) => Promise<readonly Detection[]>

export interface DetectorOptions extends FindOptions {
  readonly recognizers: readonly Recognizer[]
  readonly threshold: (kind: string) => number
  /** Amount that words nearby add to a score. */
  readonly contextScore: number
  readonly decode: readonly Encoding[]
  readonly maxDepth: number
  readonly maxBytes: number
  /** Returns true for a find that is ignored. */
  readonly isExempt: (
    match: string,
    kind: string,
    text: string,
    start: number,
    end: number,
  ) => boolean
  /** Pattern that matches within every find. */
  readonly clue: RegExp | undefined
  readonly maxScanMs: number
  readonly clock: Pick<Clock, 'now'>
}

/**
 * Finds personal data, in the order of the text and without overlaps. Finds that begin before `from` may be
 * missing.
 * @throws LamellaError `guardrail_timeout` when it takes longer than `maxScanMs`
 */
export function detect(text: string, options: DetectorOptions, from = 0): readonly Detection[] {
  const { clock, clue, maxScanMs } = options
  // Most texts have no clue, and a stream is read again at each update.
  const tail = from === 0 ? text : text.slice(from)
  if (clue?.test(tail) === false && plainAscii.test(tail)) return []
  const deadline = clock.now() + maxScanMs * Math.ceil((text.length || 1) / 10_000)
  const found = detectUnescaped(text, options, deadline)
  const markup = readMarkup(text)
  if (markup !== undefined) {
    // Words nearby may be far away in a stream, beyond the text that it keeps.
    const alone = { ...options, contextScore: 0 }
    for (const { start, end, ...find } of detectUnescaped(markup.text, alone, deadline)) {
      found.push({ ...find, ...markup.toOriginalSpan(start, end) })
    }
  }
  return withoutOverlaps(found)
}

/** Finds personal data in a text as it stands, and with its percent escapes decoded. */
function detectUnescaped(text: string, options: DetectorOptions, deadline: number): Detection[] {
  const found = detectIn(text, options, deadline, 0)
  const percent = percentReading(text)
  if (percent !== undefined) {
    for (const { start, end, ...find } of detectIn(percent.text, options, deadline, 0)) {
      found.push({ ...find, ...percent.toOriginalSpan(start, end) })
    }
  }
  return found
}

function detectIn(
  text: string,
  options: DetectorOptions,
  deadline: number,
  depth: number,
): Detection[] {
  const { recognizers, threshold, contextScore, isExempt, clock, clue, maxScanMs } = options
  const read = normalizeText(text, { homoglyphs: false })
  if (clue?.test(read.text) === false) return []
  const found: Detection[] = []
  for (const recognizer of recognizers) {
    const { kind, context } = recognizer
    const least = threshold(kind)
    for (const { start, end, score: alone } of recognizer.find(read.text, options)) {
      let score = alone
      if (context && score < least && score + contextScore >= least) {
        if (hasContext(context, read.text, start, end)) score += contextScore
      }
      if (score < least || isExempt(read.text.slice(start, end), kind, read.text, start, end))
        continue
      found.push({ kind, score, ...read.toOriginalSpan(start, end) })
    }
    if (clock.now() > deadline) {
      throw new LamellaError(`pii: a scan took longer than ${maxScanMs} ms for 10,000 characters`, {
        code: 'guardrail_timeout',
      })
    }
  }
  if (depth < options.maxDepth) {
    for (const { start, end, decoded } of encodedStretches(
      text,
      options.decode,
      options.maxBytes,
    )) {
      const [best] = detectIn(decoded, options, deadline, depth + 1).toSorted(byCertainty)
      if (best) found.push({ ...best, start, end })
    }
  }
  return found
}

function hasContext(context: RegExp, text: string, start: number, end: number): boolean {
  context.lastIndex = 0
  return context.test(surroundings(text, start, end))
}

const byCertainty = (left: Detection, right: Detection): number =>
  right.score - left.score || right.end - right.start - (left.end - left.start)

/** Merges overlapping finds: the most certain kind stays and covers the ranges of the others. */
export function withoutOverlaps(found: readonly Detection[]): readonly Detection[] {
  const kept: Detection[] = []
  let group: Detection[] = []
  let end = -1
  const close = (): void => {
    const [best] = group.toSorted(byCertainty)
    if (best) kept.push({ ...best, start: group[0]!.start, end })
  }
  for (const detection of found.toSorted((left, right) => left.start - right.start)) {
    if (detection.start >= end) {
      close()
      group = []
    }
    group.push(detection)
    end = Math.max(group.length === 1 ? -1 : end, detection.end)
  }
  close()
  return kept
}
