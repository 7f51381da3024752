import type { ChatContext, ChatResponse, KeyValueStore, Message } from '@lamella/core'
import { LamellaError, parseValue } from '@lamella/core'
import {
  callInternally,
  canonicalJson,
  sha256,
  systemClock,
  withinStoreTime,
} from '@lamella/core/authoring'
import type { SummarizerOptions } from './summarizer-options.ts'
import { renderSummary, structuredSummary, summaryPrompt, transcript } from './summary-request.ts'

export interface Summary {
  readonly text: string
  /** How many chunks were summarised anew. */
  readonly calls: number
}

/** Summarises chunks one after the other, each on top of the summary of those before it. */
export async function writeSummary(
  context: ChatContext,
  chunks: readonly (readonly Message[])[],
  options: SummarizerOptions & { readonly store: KeyValueStore },
  signal: AbortSignal,
): Promise<Summary> {
  const { store, prompt, format, model } = options
  const { clock = systemClock, storeTimeoutMs: timeoutMs = 1000 } = options
  const { tenant, principal } = context.run
  let key = await sha256(canonicalJson({ prompt, format, model, tenant, principal }))
  let summary: string | undefined
  let calls = 0
  /** A store that fails is as good as an empty one: the summary is written all the same. */
  const attempt = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await withinStoreTime(work, { clock, timeoutMs, signal })
    } catch (error) {
      if (signal.aborted) throw error
      return undefined
    }
  }
  for (const chunk of chunks) {
    const said = chunk.map(({ role, contents }) => [role, contents])
    key = await sha256(canonicalJson({ key, chunk: said }))
    const place = `summary:${key}`
    const known = await attempt(store.get(place))
    if (typeof known === 'string') {
      summary = known
      continue
    }
    summary = await ask(context, summary, chunk, options, signal)
    calls++
    await attempt(store.set(place, summary))
  }
  return { text: summary ?? '', calls }
}

async function ask(
  context: ChatContext,
  before: string | undefined,
  chunk: readonly Message[],
  options: SummarizerOptions,
  signal: AbortSignal,
): Promise<string> {
  const { name = 'summarize', client = context.client, prompt = summaryPrompt, format } = options
  const { maxSummaryTokens: maxOutputTokens = 1024, maxCharsPerPart = 4000 } = options
  const model = options.model ?? (options.client ? undefined : context.options.model)
  const known = before === undefined ? [] : [JSON.stringify({ summary: before })]
  const input = [...known, transcript(chunk, maxCharsPerPart)].join('\n')
  const response = await callInternally(context.run, {
    middleware: name,
    client,
    input,
    options: {
      instructions: prompt,
      maxOutputTokens,
      signal,
      ...(model !== undefined && { model }),
      ...(format === 'structured' && {
        responseFormat: { schema: structuredSummary, name: 'summary' },
      }),
    },
  })
  const { finishReason = 'stop', messages } = response
  // Half a summary, or a refusal, must not replace the conversation.
  const isRefused = messages.some(({ contents }) => contents.some(({ type }) => type === 'refusal'))
  if (finishReason !== 'stop' || isRefused) {
    const reason = isRefused ? 'refusal' : finishReason
    throw new LamellaError(`${name}: the summary is incomplete (${reason})`, {
      code: 'summary_incomplete',
    })
  }
  const words = format === 'structured' ? await sectionsOf(response) : response.text.trim()
  if (words === '') {
    throw new LamellaError(`${name}: the summary is empty`, { code: 'summary_empty' })
  }
  return words
}

/** A model that does not keep to the sections has still written something. */
async function sectionsOf(response: ChatResponse): Promise<string> {
  try {
    return renderSummary(await parseValue(response, structuredSummary))
  } catch (error) {
    if (LamellaError.is(error, 'schema_invalid')) return response.text.trim()
    throw error
  }
}
