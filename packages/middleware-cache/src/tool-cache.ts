import type {
  Content,
  FunctionInvocationContext,
  FunctionMiddleware,
  FunctionResult,
} from '@lamella/core'
import {
  canonicalJson,
  checkOptions,
  functionLayer,
  jsonCopy,
  wrongOption,
} from '@lamella/core/authoring'
import type { CacheInfo, SharedCacheOptions } from './cache-options.ts'
import type { CacheScope } from './cache-scope.ts'
import { scopeMissing } from './cache-scope.ts'
import type { CacheEntry } from './entry-store.ts'
import { isJson } from './is-json.ts'
import type { KeyOrReason } from './layer-cache.ts'
import { LayerCache, sharedCacheRules } from './layer-cache.ts'

/** How the results of one tool are cached. */
export interface ToolCacheRule {
  /** @default the layer's */
  readonly ttlMs?: number | undefined
  /** What of the arguments makes calls the same, as JSON. @default all of them */
  readonly key?: ((context: FunctionInvocationContext) => unknown) | undefined
}

export interface ToolCacheOptions extends SharedCacheOptions<FunctionInvocationContext> {
  /**
   * Tools by name: rules, `true` to cache one although it is not `readOnly`, `false` to leave one out.
   * @default {}
   */
  readonly tools?: Readonly<Record<string, ToolCacheRule | boolean>> | undefined
  /**
   * Who shares results.
   * @default 'shared', but a call fails whose run has a tenant or `data`, which results may depend on
   */
  readonly scope?: CacheScope<FunctionInvocationContext> | undefined
  /** A further condition for a result to be kept. Errors never are. */
  readonly cacheable?:
    | ((result: FunctionResult, context: FunctionInvocationContext) => boolean | Promise<boolean>)
    | undefined
}

interface StoredResult {
  readonly contents: readonly Content[]
  readonly value?: unknown
}

/**
 * Answers tool calls whose name and arguments were called before: of tools that are `readOnly`, and of
 * those that are named. The entries belong to the layer, or to its `store`.
 * @throws TypeError or RangeError that names the option and the value
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
  const layer = new LayerCache<StoredResult, FunctionInvocationContext>(
    'toolCache',
    options,
    isStoredResult,
  )

  function keyOf(context: FunctionInvocationContext, rule: ToolCacheRule): Promise<KeyOrReason> {
    const { data, tenant } = context.run
    if (scope === undefined && (data !== undefined || tenant !== undefined)) {
      throw scopeMissing(name, 'the run has `data` or a tenant, which a result may depend on')
    }
    return layer.keyFor(context, scope ?? 'shared', () => {
      const args = rule.key === undefined ? context.arguments : rule.key(context)
      const isWhole = args !== undefined && isJson(args, true)
      return isWhole ? canonicalJson([context.function.name, args]) : undefined
    })
  }

  async function make(
    context: FunctionInvocationContext,
    callNext: () => Promise<FunctionResult>,
    { key, ttlMs }: { readonly key: string; readonly ttlMs: number },
  ): Promise<CacheEntry<StoredResult> | undefined> {
    const result = await callNext()
    const { entry, facts } = await layer.keep(context, {
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

  return functionLayer('cache', options, async (context, callNext) => {
    const { name: tool, readOnly } = context.function
    const rule = rules.get(tool) ?? readOnly
    if (rule === false) return callNext()
    const { ttlMs = layer.ttlMs, ...own }: ToolCacheRule = rule === true ? {} : rule
    const { key, reason } = await keyOf(context, own)
    if (key === undefined) {
      layer.report(context.run, { outcome: 'skipped', reason })
      note(context, { hit: false, reason })
      return callNext()
    }

    const place = await layer.begin(context, key, {
      accepts: (entry, ageMs) => ageMs < Math.min(entry.ttlMs, ttlMs),
    })
    if ('entry' in place) {
      const { entry, shared } = place
      const ageMs = layer.entries.ageMs(entry)
      const facts = { key, ageMs, ...(shared && { shared }) }
      layer.report(context.run, { outcome: 'hit', ...facts })
      if (layer.isShadow) return callNext()
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
