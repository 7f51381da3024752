import type { FunctionInvocationContext, KeyValueStore, Tool, ToolDefinition } from '@lamella/core'
import { checkOptions, keyOf, systemClock, withinStoreTime } from '@lamella/core/authoring'
import { jsonSchema, memoryStore, tool } from '@lamella/core'
import type { Clock, OptionRules } from '@lamella/core/authoring'
import { perStore } from '@lamella/store'

/** Storage of complete results, so that the model can read more of them. */
export interface SpillOptions {
  /**
   * Store of the complete results.
   * @default the agent's, otherwise this process, the last 100
   */
  readonly store?: KeyValueStore | undefined
  /**
   * Milliseconds for which a result is kept.
   * @default 86_400_000, a day
   */
  readonly ttlMs?: number | undefined
  /**
   * Name of the tool that reads more.
   * @default 'read_more'
   */
  readonly toolName?: string | undefined
  /**
   * Prefix of the keys in the store.
   * @default 'result:'
   */
  readonly prefix?: string | undefined
  /**
   * Characters that the tool returns in one call.
   * @default 20_000
   */
  readonly pageChars?: number | undefined
  /**
   * Milliseconds to wait for each answer of the store. After that, a result is not stored, or not
   * read.
   * @default 1000
   */
  readonly storeTimeoutMs?: number | undefined
  /** Source of time. @default the clock of this machine */
  readonly clock?: Clock | undefined
}

export const spillRules: OptionRules<SpillOptions> = {
  store: 'any',
  ttlMs: 1,
  toolName: 'any',
  prefix: 'any',
  pageChars: 1,
  storeTimeoutMs: 'ms',
  clock: 'any',
}

/**
 * Creates the tool that reads more of the results that `contentTruncator({ spill })` has shortened.
 * It finds only results of the same session, or of the same run without one. The middleware offers
 * it after the first shortened result; add it to the agent's tools to offer it from the start.
 */
export function readMoreTool(options: SpillOptions): Tool {
  checkOptions('readMoreTool', options, spillRules)
  const { toolName = 'read_more', prefix, pageChars = 20_000 } = options
  return tool({
    name: toolName,
    description: 'Reads on in the result of a tool that was too long to be shown as a whole.',
    parameters: jsonSchema({
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The id that the shortened result names.' },
        offset: { type: 'integer', minimum: 0, description: 'The first character to read.' },
      },
      required: ['id', 'offset'],
    }),
    readOnly: true,
    idempotent: true,
    metadata: { [marksReader]: true },
    async execute({ id, offset }, context) {
      // An id of any other form might make up the key of another session.
      const key = /^[\w-]+$/.test(String(id)) && spillKey(context, prefix, String(id))
      const text = key && (await inTime(options, context, storeOf(options, context).get(key)))
      if (typeof text !== 'string') return 'There is no such result any more.'
      const from = Number(offset)
      const page = text.slice(from, from + pageChars)
      const end = from + page.length
      const rest = end < text.length ? `Read on at offset ${end}.` : 'This is the end.'
      return `${page}\n\n[Characters ${from} to ${end} of ${text.length}. ${rest}]`
    },
  })
}

/** Keeps a whole result. Resolves to the id that the model reads on with. */
export async function spill(
  context: FunctionInvocationContext,
  options: SpillOptions,
  text: string,
): Promise<string> {
  const { ttlMs = 86_400_000, prefix } = options
  const id = context.run.ids.createSecretId('result')
  const store = storeOf(options, context)
  const written = store.set(spillKey(context, prefix, id), text, { ttlMs })
  await inTime(options, context, written)
  return id
}

/** Tells whether a tool reads stored results. */
export function isReader(of: ToolDefinition): boolean {
  return of.type === 'function' && of.metadata?.[marksReader] === true
}

/** The middleware and the tool find one store by the options that they share. */
const stores = new WeakMap<SpillOptions, ReturnType<typeof perStore<KeyValueStore>>>()

function storeOf(options: SpillOptions, { run }: FunctionInvocationContext): KeyValueStore {
  const known = stores.get(options)
  if (known !== undefined) return known(run)
  const make = (store: KeyValueStore | undefined): KeyValueStore =>
    store ?? memoryStore({ maxEntries: 100 })
  const found = perStore(options.store, make)
  stores.set(options, found)
  return found(run)
}

function inTime<T>(
  { storeTimeoutMs: timeoutMs = 1000, clock = systemClock }: SpillOptions,
  { signal }: FunctionInvocationContext,
  work: Promise<T>,
): Promise<T> {
  return withinStoreTime(work, { clock, timeoutMs, signal })
}

const marksReader = 'readsSpilledResults'

function spillKey(
  { session, run }: FunctionInvocationContext,
  prefix = 'result:',
  id: string,
): string {
  const [of, at] = session === undefined ? ['run', run.id] : ['session', session.id]
  return keyOf(prefix, run, of, at, id)
}
