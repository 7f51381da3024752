import type { FunctionInvocationContext, KeyValueStore, Tool, ToolDefinition } from '@lamella/core'
import { createSecretId, tool } from '@lamella/core'
import type { OptionRules } from '@lamella/core/authoring'
import { checkOptions, unlessAborted } from '@lamella/core/authoring'

/** Where whole results are kept, so that the model may read on. */
export interface SpillOptions {
  readonly store: KeyValueStore
  /**
   * Milliseconds for which a result is kept.
   * @default 86_400_000, a day
   */
  readonly ttlMs?: number | undefined
  /**
   * Of the tool by which the model reads on.
   * @default 'read_more'
   */
  readonly toolName?: string | undefined
  /**
   * Stands before the keys of the store.
   * @default 'result:'
   */
  readonly prefix?: string | undefined
  /**
   * Characters that the tool gives at once.
   * @default 20_000
   */
  readonly pageChars?: number | undefined
}

export const spillRules: OptionRules<SpillOptions> = {
  store: 'any',
  ttlMs: 1,
  toolName: 'any',
  prefix: 'any',
  pageChars: 1,
}

/**
 * The tool by which a model reads on in results that `contentTruncator({ spill })` has shortened. It
 * only finds what the same session, or without one the same run, has kept. The layer offers it from the
 * first shortened result on; among an agent's own tools it is there from the start.
 */
export function readMoreTool(options: SpillOptions): Tool {
  checkOptions('readMoreTool', options, spillRules)
  const { store, toolName = 'read_more', prefix, pageChars = 20_000 } = options
  return tool({
    name: toolName,
    description: 'Reads on in the result of a tool that was too long to be shown as a whole.',
    parameters: {
      type: 'object',
      properties: {
        id: { type: 'string', description: 'The id that the shortened result names.' },
        offset: { type: 'integer', minimum: 0, description: 'The first character to read.' },
      },
      required: ['id', 'offset'],
    },
    readOnly: true,
    idempotent: true,
    metadata: { [marksReader]: true },
    async execute({ id, offset }, context) {
      // An id of any other form might make up the key of another session.
      const key = /^[\w-]+$/.test(String(id)) && spillKey(context, prefix, String(id))
      const text = key && (await unlessAborted(context.signal, store.get(key)))
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
  { store, ttlMs = 86_400_000, prefix }: SpillOptions,
  text: string,
): Promise<string> {
  const id = createSecretId('result')
  const written = store.set(spillKey(context, prefix, id), text, { ttlMs })
  await unlessAborted(context.signal, written)
  return id
}

/** Whether a tool is a reader of results that were kept. */
export function isReader(of: ToolDefinition): boolean {
  return of.type === 'function' && of.metadata?.[marksReader] === true
}

const marksReader = 'readsSpilledResults'

function spillKey(
  { session, run }: FunctionInvocationContext,
  prefix = 'result:',
  id: string,
): string {
  return `${prefix}${session === undefined ? `run:${run.id}` : `session:${session.id}`}:${id}`
}
