import type { Content, FunctionInvocationContext, FunctionMiddleware } from '@lamella/core'
import { text } from '@lamella/core'
import { estimateTokens } from '@lamella/text'
import {
  defineFunctionMiddleware,
  isControlFlow,
  reporter,
  unlessAborted,
} from '@lamella/core/authoring'
import type { ContentTruncatorOptions } from './content-options.ts'
import { checkContentOptions } from './content-options.ts'
import { isReader, readMoreTool, spill } from './read-more-tool.ts'
import { shrinkJson } from './shrink-json.ts'
import { latestModel, tokensOfShare } from './window-share.ts'
import { truncateText } from './truncate-text.ts'

/**
 * Shortens tool results that are too long.
 * @throws TypeError or RangeError that names the option and the value
 */
export function contentTruncator(options: ContentTruncatorOptions = {}): FunctionMiddleware {
  checkContentOptions(options)
  const { name = 'truncate', mode, maxChars = 50_000, strategy = 'head-tail' } = options
  const { maxTokens = Infinity, countTokens = estimateTokens } = options
  const { marker = '\n\n[...truncated...]\n\n', spill: spilling } = options
  const reader = spilling && readMoreTool(spilling)
  const report = reporter('truncate', options.onEvent)

  const middleware = defineFunctionMiddleware('truncate', options, async (context, callNext) => {
    const result = await callNext()
    if (isReader(context.function)) return
    const whole = result.contents.flatMap((content) =>
      content.type === 'text' ? content.text : [],
    )
    const before = lengthOf(whole)
    const limit = typeof maxChars === 'function' ? maxChars(context) : maxChars
    const tokens =
      typeof maxTokens === 'object'
        ? tokensOfShare('contentTruncator', maxTokens, latestModel(context.run))
        : maxTokens
    const room = Math.min(limit, charsFor(whole, before, tokens))
    if (before <= room) return

    const note = mode === 'shadow' ? '' : await keep(context, whole.join('\n\n'))
    const shares = shareOut(Math.max(0, room - (note?.length ?? 0)), whole)
    const shortening = whole.map((words, index) => shorten(words, shares[index]!, context))
    const shorter = await unlessAborted(context.signal, Promise.all(shortening))
    const charsAfter = lengthOf(shorter) + (note?.length ?? 0)
    const kept = note === undefined ? 'failed' : note === '' ? 'none' : 'kept'
    const event = { middleware: name, tool: context.function.name, charsBefore: before, charsAfter }
    report(context.run, { ...event, spill: kept })
    if (mode === 'shadow') return
    let next = 0
    const contents = result.contents.flatMap((content): readonly Content[] => {
      if (content.type !== 'text') return [content]
      const words = shorter[next++]!
      return words === '' ? [] : [{ ...content, text: words }]
    })
    if (note) contents.push(text(note))
    context.result = { ...result, contents: contents.length > 0 ? contents : [text(marker)] }
  })
  return { ...middleware, findTool: (tool) => (tool === reader?.name ? reader : undefined) }

  /** How many characters of the texts the tokens are that may stay. */
  function charsFor(texts: readonly string[], chars: number, most: number): number {
    if (most === Infinity) return Infinity
    const tokens = texts.reduce((sum, words) => sum + countTokens(words), 0)
    return tokens <= most ? Infinity : Math.floor((chars * most) / tokens)
  }

  /** Keeps the whole result; says how to read on, or nothing if the store did not take it. */
  async function keep(
    context: FunctionInvocationContext,
    words: string,
  ): Promise<string | undefined> {
    if (spilling === undefined || reader === undefined) return ''
    const known = context.tools.get(reader.name)
    if (known === undefined || !isReader(known)) context.addTools(reader)
    try {
      const id = await spill(context, spilling, words)
      return `[The whole result has ${words.length} characters. Call ${reader.name} with the id "${id}" and an offset to read on.]`
    } catch (error) {
      if (isControlFlow(error, context.signal)) throw error
      return undefined
    }
  }

  async function shorten(
    words: string,
    share: number,
    context: FunctionInvocationContext,
  ): Promise<string> {
    if (words.length <= share) return words
    if (typeof strategy === 'function') return strategy(words, { maxChars: share, context })
    const json = strategy === 'json-aware' ? shrinkJson(words, share) : undefined
    const how = strategy === 'head' ? 'head' : 'head-tail'
    return json ?? truncateText(words, { maxChars: share, marker, strategy: how })
  }
}

/** Short texts stay whole, and the long ones share what is left evenly. */
function shareOut(room: number, texts: readonly string[]): readonly number[] {
  const shares = texts.map(() => 0)
  const byLength = texts.map(({ length }, index) => ({ length, index }))
  byLength.sort((left, right) => left.length - right.length)
  let left = room
  byLength.forEach(({ length, index }, at) => {
    const share = Math.min(length, Math.floor(left / (texts.length - at)))
    shares[index] = share
    left -= share
  })
  return shares
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}
