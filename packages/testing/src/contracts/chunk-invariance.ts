import type { AgentResponse, MiddlewareInput } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import type { Chunking } from '../base/chunking.ts'
import { demandSame } from './contract-assertions.ts'
import type { MiddlewareRunOptions } from '../scripted/run-middleware.ts'
import { runChatMiddleware } from '../scripted/run-middleware.ts'
import type { ScriptedReply } from '../scripted/scripted-step.ts'

/** Options of `assertChunkInvariant`. */
export interface ChunkInvarianceOptions extends Omit<MiddlewareRunOptions, 'stream' | 'onEvent'> {
  /** Replies of the model. Each is tried in every chunking. */
  readonly replies: readonly ScriptedReply[]
  /**
   * Chunkings to try.
   * @default by character, whole, and `randomCuts` at random places
   */
  readonly chunkings?: readonly Chunking[] | undefined
  /**
   * Number of random chunkings for each reply.
   * @default 20
   */
  readonly randomCuts?: number | undefined
  /**
   * Seed of the first random chunking; the next ones count up from it.
   * @default 1
   */
  readonly seed?: number | undefined
}

/**
 * Runs middleware around each reply, once plain and once for each chunking of the stream. All
 * outcomes must be the same, and must equal the text that a reader of the stream ends with. Tool
 * calls in a reply are not executed.
 * @param middleware a function creates it for each run
 * @throws ContractViolation that names the reply and the cut
 */
export async function assertChunkInvariant(
  middleware: MiddlewareInput | (() => MiddlewareInput),
  options: ChunkInvarianceOptions,
): Promise<void> {
  const { replies, chunkings, randomCuts = 20, seed = 1, ...runOptions } = options
  const cuts: readonly Chunking[] = chunkings ?? [
    'char',
    'whole',
    ...Array.from({ length: randomCuts }, (_, index) => ({ seed: seed + index })),
  ]
  const make = typeof middleware === 'function' ? middleware : () => middleware

  for (const reply of replies) {
    const plain = await runChatMiddleware(make(), { ...runOptions, replies: () => reply })
    for (const chunk of cuts) {
      const of = `of ${describe(reply)}, cut by ${describe(chunk)},`
      const streamed = await runChatMiddleware(make(), {
        ...runOptions,
        replies: () => reply,
        stream: true,
        chunk,
      })
      demandSame(streamed.error, plain.error, `the error ${of}`)
      demandSame(outcome(streamed.response), outcome(plain.response), `the streamed outcome ${of}`)
      if (streamed.response === undefined) continue
      const read = foldUpdates(streamed.updates)
      demandSame(
        read.text,
        streamed.response.text,
        `the text that a reader of the stream ${of} ends with`,
      )
    }
  }
}

function outcome(response: AgentResponse | undefined): unknown {
  if (response === undefined) return undefined
  const { status, reason, block, messages, finishReason } = response
  // A run that is blocked in the middle of a stream does not receive the usage.
  const usage = status === 'blocked' ? undefined : response.usage
  const contents = messages.map((message) => ({ role: message.role, contents: message.contents }))
  return { status, reason, block, contents, finishReason, usage }
}

function describe(value: unknown): string {
  return typeof value === 'function' ? 'a function' : JSON.stringify(value).slice(0, 120)
}
