import type {
  Content,
  FunctionInvocationContext,
  FunctionMiddleware,
  FunctionResult,
} from '@lamella/core'
import {
  canonicalJson,
  checkOptions,
  defineFunctionMiddleware,
  isJson,
  jsonCopy,
  wrongOption,
} from '@lamella/core/authoring'
import type { CacheInfo, SharedCacheOptions } from './cache-options.ts'
import type { CacheScope } from '../keys/cache-scope.ts'
import { scopeMissing } from '../keys/cache-scope.ts'
import type { CacheEntry } from '../entries/entry-store.ts'
import { hasJsonForm } from '../keys/request-key.ts'
import type { KeyOrReason } from './call-cache.ts'
import { CallCache, sharedCacheRules } from './call-cache.ts'

/** Settings for the results of one tool. */
export interface ToolCacheRule {
  /**
   * Milliseconds for which a result answers.
   * @default `ttlMs` of the middleware
   */
  readonly ttlMs?: number | undefined
  /**
   * Part of the arguments that identifies a call, as JSON.
   * @default all arguments
   */
  readonly key?: ((context: FunctionInvocationContext) => unknown) | undefined
}

/** Options of `toolCache`. */
export interface ToolCacheOptions extends SharedCacheOptions<FunctionInvocationContext> {
  /**
   * Settings by name of the tool: a rule, `true` to cache a tool that is not `readOnly`, `false` to skip
   * one.
   * @default {}
   */
  readonly tools?: Readonly<Record<string, ToolCacheRule | boolean>> | undefined
  /**
   * Set of callers that share results.
   * @default 'shared', but a run with a tenant, a principal or `data`, which results may depend on, fails
   */
  readonly scope?: CacheScope<FunctionInvocationContext> | undefined
  /** Further condition for storing a result. Errors are never stored. */
  readonly cacheable?:
    | ((result: FunctionResult, context: FunctionInvocationContext) => boolean | Promise<boolean>)
    | undefined
}

interface StoredResult {
  readonly contents: readonly Content[]
  readonly value?: unknown
}

/**
 * Answers repeated tool calls with the same arguments from a cache: calls of tools that are `readOnly`,
 * and of those named in `tools`. Entries belong to the middleware or to its `store`.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { Agent, tool } from '@lamella/core'
 * import { toolCache } from '@lamella/middleware-cache'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const city = tool({ name: 'city', description: 'A city.', readOnly: true, execute: () => 'Rome' })
 * const middleware = toolCache({ ttlMs: 60_000 })
 * const agent = new Agent({ client: scriptedClient(['Rome.']), tools: [city], middleware })
 * await agent.run('Which city?')
 * ```
 */
export function toolCache(options: ToolCacheOptions = {}): FunctionMiddleware {
  checkOptions('toolCache', options, {
    ...sharedCacheRules,
    tools: 'any',
    scope: 'any',
    cacheable: 'function?',
  })
  const { name = 'cache', tools = {}, scope, cacheable } = options
  for (const [tool, rule] of Object.entries(tools)) {
    if (typeof rule !== 'boolean' && (typeof rule !== 'object' || rule === null)) {
      throw wrongOption('toolCache', `tools.${tool}`, 'true, false or a rule', rule)
    }
    const own: ToolCacheRule = typeof rule === 'object' ? rule : {}
    checkOptions(`toolCache: tool "${tool}"`, own, { ttlMs: 1, key: 'function?' })
  }
  const rules = new Map(Object.entries(tools))
  const middleware = new CallCache<StoredResult, FunctionInvocationContext>(
    'toolCache',
    options,
    isStoredResult,
  )

  function keyOf(context: FunctionInvocationContext, rule: ToolCacheRule): Promise<KeyOrReason> {
    const { data, tenant, principal } = context.run
    const owner = data ?? tenant ?? principal
    if (scope === undefined && owner !== undefined) {
      const why = 'the run has `data`, a tenant or a principal, which a result may depend on'
      throw scopeMissing(name, why)
    }
    return middleware.keyFor(context, scope ?? 'shared', () => {
      const args = rule.key === undefined ? context.arguments : rule.key(context)
      const isWhole = args !== undefined && isJson(args, hasJsonForm)
      return isWhole ? canonicalJson([context.function.name, args]) : undefined
    })
  }

  async function make(
    context: FunctionInvocationContext,
    callNext: () => Promise<FunctionResult>,
    { key, ttlMs }: { readonly key: string; readonly ttlMs: number },
  ): Promise<CacheEntry<StoredResult> | undefined> {
    const result = await callNext()
    const { entry, facts } = await middleware.keep(context, {
      key,
      ttlMs,
      why: async () => {
        if (result.error !== undefined) return 'failed'
        return (await cacheable?.(result, context)) === false ? 'cacheable' : undefined
      },
      value: () => storeResult(result),
    })
    note(context, { hit: false, ...facts })
    return entry
  }

  return defineFunctionMiddleware('cache', options, async (context, callNext) => {
    const { name: tool, readOnly } = context.function
    const rule = rules.get(tool) ?? readOnly
    if (rule === false) return callNext()
    const { ttlMs = middleware.ttlMs, ...own }: ToolCacheRule = rule === true ? {} : rule
    const { key, reason } = await keyOf(context, own)
    if (key === undefined) {
      middleware.report(context.run, { outcome: 'skipped', reason })
      note(context, { hit: false, reason })
      return callNext()
    }

    const place = await middleware.begin(context, key, {
      accepts: (entry, ageMs) => ageMs < Math.min(entry.ttlMs, ttlMs),
    })
    if ('entry' in place) {
      const { entry, shared } = place
      const ageMs = middleware.ageMs(entry)
      const facts = { key, ageMs, ...(shared && { shared }) }
      middleware.report(context.run, { outcome: 'hit', ...facts })
      if (middleware.isShadow) return callNext()
      note(context, { hit: true, ...facts })
      context.result = entry.value
      return undefined
    }

    let entry: CacheEntry<StoredResult> | undefined
    let failure: unknown
    try {
      entry = await make(context, callNext, { key, ttlMs })
    } catch (error) {
      failure = error
      throw error
    } finally {
      place.end(entry, failure)
    }
    return undefined
  })
}

function note({ metadata }: FunctionInvocationContext, info: CacheInfo): void {
  metadata['cache'] = info
}

function storeResult({ contents, value }: FunctionResult): StoredResult {
  return jsonCopy(isJson(value) ? { contents, value } : { contents })
}

function isStoredResult(value: unknown): value is StoredResult {
  return Array.isArray((value as Partial<StoredResult> | null | undefined)?.contents)
}
