import type { ChatContext } from '@lamella/core'
import { textOf } from '@lamella/core'
import type { Clock, OptionRules } from '@lamella/core/authoring'
import { estimateTokens } from '@lamella/text'
import { systemClock, wrongOption } from '@lamella/core/authoring'
import type { CacheEntry, EntryStore } from '../entries/entry-store.ts'
import type { CacheRequest } from '../keys/request-key.ts'
import { isBare } from '../keys/request-key.ts'
import { sameFacts as sameFactsOf } from './same-facts.ts'
import type { SemanticOptions } from './semantic-options.ts'
import type { StoredResponse } from '../keys/stored-response.ts'
import { memoryVectorIndex } from './vector-index.ts'
import { within } from '../entries/within.ts'

/** Question to be matched by meaning. */
export interface Question {
  readonly text: string
  readonly vector: readonly number[]
  /** Key of all else that the call asks. Only questions of one partition are compared. */
  readonly partition: string
}

/** Entry of a question with the same meaning. */
export interface SemanticMatch {
  readonly entry: CacheEntry<StoredResponse>
  readonly similarity: number
}

export const semanticRules: OptionRules<SemanticOptions> = {
  timeoutMs: 'ms',
  embed: 'function',
  threshold: 'any',
  index: 'any',
  sameFacts: 'function?',
  verify: 'function?',
  except: 'function?',
  maxQuestionTokens: 1,
}

/** Finds answered questions with the same meaning. */
export class SemanticLookup {
  readonly #options: SemanticOptions
  readonly #clock: Clock
  readonly #index: NonNullable<SemanticOptions['index']>

  /** @throws TypeError or RangeError that names the option and the value */
  constructor(options: SemanticOptions, clock: Clock = systemClock) {
    const { threshold = 0.95, index = memoryVectorIndex() } = options
    if (!(threshold > 0 && threshold <= 1)) {
      throw wrongOption('cache', 'semantic.threshold', 'above 0 and at most 1', threshold)
    }
    this.#options = options
    this.#clock = clock
    this.#index = index
  }

  /**
   * Returns the question of a call that ends with nothing but a user's text and may be matched by
   * meaning.
   */
  async questionOf(
    context: ChatContext,
    partitionOf: () => Promise<string | undefined>,
  ): Promise<Question | undefined> {
    const { maxQuestionTokens = 2000, except, embed } = this.#options
    const last = context.messages.at(-1)
    if (last?.role !== 'user' || !last.contents.every(isPlainText)) return undefined
    const text = textOf(last.contents)
    if (text === '' || estimateTokens(text) > maxQuestionTokens || except?.(text)) return undefined
    const partition = await partitionOf()
    if (partition === undefined) return undefined
    const { signal } = context
    const vector = await this.#within(async () => embed(text, { signal }), signal)
    return { text, vector, partition }
  }

  /** Looks for an entry that `accepts` takes. */
  async find(
    context: ChatContext,
    { text: question, vector, partition }: Question,
    entries: EntryStore<StoredResponse>,
    accepts: (entry: CacheEntry<StoredResponse>) => Promise<boolean>,
  ): Promise<SemanticMatch | undefined> {
    const { signal } = context
    const { threshold = 0.95, sameFacts = sameFactsOf, verify } = this.#options
    const search = () => this.#index.search(partition, vector, { limit: 5, signal })
    for (const { key, similarity } of await this.#within(search, signal)) {
      if (!(similarity >= threshold)) break
      const entry = await entries.read(key, signal)
      const answered = entry?.question
      if (entry === undefined || answered === undefined) continue
      if (!sameFacts(question, answered) || !(await accepts(entry))) continue
      const similar = { question, answered, similarity, response: entry.value, context }
      const isSame =
        verify === undefined || (await this.#within(async () => verify(similar), signal))
      if (isSame) return { entry, similarity }
    }
    return undefined
  }

  /** Adds an answered question to the index. */
  async learn(key: string, { partition, vector }: Question, ttlMs: number): Promise<void> {
    await this.#within(() => this.#index.add(partition, { key, vector, ttlMs }))
  }

  #within<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { timeoutMs = 5000 } = this.#options
    return within(work(), { clock: this.#clock, timeoutMs, signal })
  }
}

function isPlainText(content: ChatContext['messages'][number]['contents'][number]): boolean {
  return content.type === 'text' && isBare(content)
}

/** Returns a request without the texts of its last message. */
export function withoutQuestion(request: CacheRequest): CacheRequest {
  const last = request.messages.at(-1) ?? []
  const rest = last.filter((part, at) => at === 0 || typeof part !== 'string')
  return { ...request, messages: [...request.messages.slice(0, -1), rest] }
}
