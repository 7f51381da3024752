import type { ChatContext, ChatMiddleware, ChatResponse } from '@lamella/core'
import { chatResponse, LamellaError, parseValue } from '@lamella/core'
import type { OptionRules } from '@lamella/core/authoring'
import {
  canonicalJson,
  checkOptions,
  declareChatOption,
  defineChatMiddleware,
  isControlFlow,
  isJson,
  unlessAborted,
} from '@lamella/core/authoring'
import type { CacheControl, CacheInfo, CacheMode, CacheOptions } from './cache-options.ts'
import { hasTenant, scopeMissing } from '../keys/cache-scope.ts'
import type { CacheEntry } from '../entries/entry-store.ts'
import { allowances, whyNotAsked, whyNotKept } from '../keys/keepable.ts'
import type { KeyOrReason } from './call-cache.ts'
import { CallCache, sharedCacheRules } from './call-cache.ts'
import type { CacheRequest } from '../keys/request-key.ts'
import { cacheRequest, hasJsonForm } from '../keys/request-key.ts'
import type { Question, SemanticMatch } from '../semantic/semantic-lookup.ts'
import { SemanticLookup, semanticRules, withoutQuestion } from '../semantic/semantic-lookup.ts'
import type { StoredResponse } from '../keys/stored-response.ts'
import { isStoredResponse, replayResponse, storeResponse } from '../keys/stored-response.ts'
import { watchChanges } from './watch-changes.ts'

type Entry = CacheEntry<StoredResponse>
type Facts = Omit<CacheInfo, 'hit'>
/** Value of a hit, if its call has a schema that the answer fits. */
type TypedValue = { readonly value?: unknown }
type AnswerFacts = Facts & { readonly typed: TypedValue }

/**
 * Answers repeated model calls from a cache. Entries belong to the middleware or to its `store`, and all
 * runs of their scope share them.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { cache } from '@lamella/middleware-cache'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const client = scriptedClient(['Paris.'])
 * const agent = new Agent({ client, middleware: cache({ ttlMs: 60_000 }) })
 * await agent.run('What is the capital of France?')
 * await agent.run('What is the capital of France?') // answered without the client
 * ```
 */
export function cache(options: CacheOptions = {}): ChatMiddleware {
  checkOptions('cache', options, {
    ...sharedCacheRules,
    scope: 'any',
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: 0,
    allow: 'any',
    cacheable: 'function?',
    key: 'function?',
    semantic: semanticRules,
  })
  const { name = 'cache', scope, allow = [], cacheable, key: keyFrom, waitUntil } = options
  const { staleWhileRevalidateMs = 0, staleIfErrorMs = 0 } = options
  for (const what of allow) checkOptions('cache', { allow: what }, { allow: allowances })
  const middleware = new CallCache<StoredResponse, ChatContext>('cache', options, isStoredResponse)
  const { isShadow } = middleware
  declareChatOption('cache')
  const allowed = new Set(allow)
  const refreshing = new Set<string>()
  const semantic = options.semantic && new SemanticLookup(options.semantic, options.clock)

  async function keyOf(
    context: ChatContext,
    part: (request: CacheRequest) => CacheRequest = (request) => request,
  ): Promise<KeyOrReason> {
    const reason = whyNotAsked(context.options, allowed)
    if (reason !== undefined) return { reason }
    if (scope === undefined && hasTenant(context.run)) {
      throw scopeMissing(name, 'the run has a tenant')
    }
    return middleware.keyFor(context, scope ?? 'shared', () => {
      const whole = cacheRequest(context)
      const request = whole && part(whole)
      if (keyFrom === undefined || request === undefined) return request
      const own = keyFrom(context, request)
      return own !== undefined && isJson(own, hasJsonForm) ? canonicalJson(own) : undefined
    })
  }

  function answer(context: ChatContext, { storedAt, value }: Entry, facts: AnswerFacts): void {
    const { typed, ...told } = facts
    const ageMs = middleware.ageMs({ storedAt })
    const all: Facts = { ...told, ageMs, savedUsage: value.usage }
    middleware.report(context.run, { outcome: 'hit', ...all })
    if (isShadow) return
    const info: CacheInfo = { hit: true, ...all }
    const metadata = { ...value.metadata, cache: info }
    context.metadata['cache'] = info
    context.result = { ...replayResponse(value, context.run.ids), ...typed, metadata }
  }

  /** Records in the response of a call how the cache treated it. */
  function note(context: ChatContext, response: ChatResponse, facts: Facts): void {
    if (isShadow) return
    const info: CacheInfo = { hit: false, ...facts }
    context.metadata['cache'] = info
    context.result = { ...response, metadata: { ...response.metadata, cache: info } }
  }

  async function make(
    context: ChatContext,
    callNext: () => Promise<ChatResponse>,
    key: string,
    question: Question | undefined,
    onProgress: () => void,
  ): Promise<Entry | undefined> {
    const hasChanged = allowed.has('changed') ? undefined : watchChanges(context)
    if (context.stream) {
      context.transformUpdates({
        transform(update, controller) {
          onProgress()
          controller.enqueue(update)
        },
      })
    }
    const response = await callNext()
    const { ttlMs = middleware.ttlMs } = controlOf(context)
    const { entry, facts } = await middleware.keep(context, {
      key,
      ttlMs,
      keepMs: ttlMs + Math.max(staleWhileRevalidateMs, staleIfErrorMs),
      why: async () => {
        const reason = whyNotKept(response, allowed, context.options)
        if (reason !== undefined) return reason
        if (hasChanged?.(response)) return 'changed'
        return (await cacheable?.(response, context)) === false ? 'cacheable' : undefined
      },
      question: question?.text,
      value: () => storeResponse(response, context.options.responseFormat),
    })
    if (entry !== undefined && question !== undefined) {
      await semantic
        ?.learn(key, question, ttlMs)
        .catch((error: unknown) => middleware.fail(context, 'semantic', error, key))
    }
    note(context, response, facts)
    return entry
  }

  /** Question of a call without an entry, and the entry of a question that means the same. */
  async function lookAround(
    context: ChatContext,
    key: string,
    accepts: ((entry: Entry) => Promise<boolean>) | undefined,
  ): Promise<{
    readonly question?: Question | undefined
    readonly match?: SemanticMatch | undefined
  }> {
    if (semantic === undefined) return {}
    try {
      const partitionOf = async () => (await keyOf(context, withoutQuestion)).key
      const question = await semantic.questionOf(context, partitionOf)
      const match =
        question &&
        accepts &&
        (await semantic.find(context, question, middleware.entriesOf(context), accepts))
      return { question, match }
    } catch (error) {
      if (isControlFlow(error, context.signal)) throw error
      middleware.fail(context, 'semantic', error, key)
      return {}
    }
  }

  /** Refreshes an entry for later calls. */
  function refresh(context: ChatContext, key: string): void {
    if (refreshing.has(key) || isShadow) return
    refreshing.add(key)
    const control: CacheControl = { ...controlOf(context), mode: 'reload' }
    const work = middleware
      .claim(context, `${key}:refresh`)
      .then((isOurs) => (isOurs ? context.repeat({ cache: control }) : undefined))
      .catch((error: unknown) => middleware.fail(context, 'revalidate', error, key))
      .finally(() => refreshing.delete(key))
    waitUntil?.(work)
  }

  return defineChatMiddleware('cache', options, async (context, callNext) => {
    const { mode, maxAgeMs = Infinity } = controlOf(context)
    const { key, reason } = mode === 'no-store' ? { reason: mode } : await keyOf(context)
    if (key === undefined) {
      if (mode === 'only-if-cached') throw cacheMiss(name, reason)
      middleware.report(context.run, { outcome: 'skipped', reason })
      return note(context, await callNext(), { reason })
    }

    const graceMs = maxAgeMs === Infinity ? staleWhileRevalidateMs : 0
    const accepts = ({ ttlMs }: Entry, ageMs: number): boolean =>
      ageMs < Math.min(ttlMs + graceMs, maxAgeMs)
    const reads = mode !== 'reload'
    const waits = mode !== 'only-if-cached'
    let typed: TypedValue = {}
    const fits = async (found: Entry): Promise<boolean> => {
      const read = await typedValue(found.value, context)
      typed = read ?? {}
      return read !== undefined
    }
    const place = await middleware.begin(context, key, {
      reads,
      waits,
      accepts: (found, ageMs) => accepts(found, ageMs) && fits(found),
      isAwaited: () => context.awaited,
    })
    if ('entry' in place) {
      const { entry, shared } = place
      const isStale = middleware.ageMs(entry) >= entry.ttlMs
      if (isStale) refresh(context, key)
      answer(context, entry, {
        key,
        typed,
        ...(shared && { shared }),
        ...(isStale && { stale: true }),
      })
      return isShadow ? callNext() : undefined
    }

    let entry: Entry | undefined
    let failure: unknown
    try {
      const isYoung = async (found: Entry): Promise<boolean> =>
        middleware.ageMs(found) < Math.min(found.ttlMs, maxAgeMs) && fits(found)
      const { question, match } = await lookAround(context, key, reads ? isYoung : undefined)
      if (match !== undefined) {
        entry = match.entry
        answer(context, entry, { key, typed, similarity: match.similarity })
        if (!isShadow) return undefined
      }
      if (mode === 'only-if-cached') throw cacheMiss(name)
      entry = await make(context, callNext, key, question, () => place.progress())
    } catch (error) {
      failure = error
      const { old } = place
      const isUsable = old !== undefined && middleware.ageMs(old) < old.ttlMs + staleIfErrorMs
      const isSeen = context.released || isShadow
      if (!isUsable || isSeen || isControlFlow(error, context.signal)) throw error
      if (!(await fits(old))) throw error
      answer(context, old, { key, typed, stale: true })
    } finally {
      place.end(entry, failure)
    }
    return undefined
  })
}

/**
 * Reads the value of a stored answer by the schema of the call that gets it. Resolves to `undefined` for an
 * answer that a validator let through and that fits another schema only.
 */
async function typedValue(
  stored: StoredResponse,
  { options: { responseFormat }, run, signal }: ChatContext,
): Promise<TypedValue | undefined> {
  if (typeof responseFormat !== 'object') return {}
  const parsed = parseValue(chatResponse(replayResponse(stored, run.ids)), responseFormat.schema)
  try {
    return { value: await unlessAborted(signal, parsed) }
  } catch (error) {
    if (!LamellaError.is(error, 'schema_invalid')) throw error
    return stored.metadata['schemaValid'] === true ? undefined : {}
  }
}

function controlOf({ options }: ChatContext): CacheControl & { readonly mode: CacheMode } {
  const { cache: given } = options
  if (given === undefined) return { mode: 'default' }
  const control = typeof given === 'string' ? { mode: given } : given
  const rules: OptionRules<CacheControl> = { mode: modes, maxAgeMs: 'any', ttlMs: 'any' }
  checkOptions('cache', { options: { cache: control } }, { options: { cache: rules } })
  return { ...control, mode: control.mode ?? 'default' }
}

const modes: readonly CacheMode[] = ['default', 'reload', 'no-store', 'only-if-cached']

function cacheMiss(middleware: string, reason?: string): LamellaError {
  const why = reason === undefined ? 'there is no entry' : `it is not cached (${reason})`
  return new LamellaError(`${middleware}: the mode only-if-cached makes no call, and ${why}`, {
    code: 'cache_miss',
  })
}
