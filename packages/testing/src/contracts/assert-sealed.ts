import type { AgentResponseUpdate, MiddlewareInput } from '@lamella/core'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  chatResponse,
  createSession,
  outcomeOf,
  ProviderError,
} from '@lamella/core'
import type { Chunking } from '../base/chunking.ts'
import { demand, demandSame, searchIn } from './contract-assertions.ts'
import { scriptedClient } from '../scripted/scripted-client.ts'
import type { ScriptedReply } from '../scripted/scripted-step.ts'

/** Options of `assertSealed`. */
export interface SealOptions {
  /** Answer of the model. */
  readonly text: string
  /** The part of it that the guardrail acts on. */
  readonly forbidden: string
  /** Expected effect: `block` blocks the run, `replace` continues without the forbidden part. */
  readonly action: 'block' | 'replace'
  /**
   * Chunkings to try.
   * @default every split in two, by character, and `randomCuts` at random places
   */
  readonly chunkings?: readonly Chunking[] | undefined
  /**
   * Number of random cuts.
   * @default 20
   */
  readonly randomCuts?: number | undefined
  /**
   * Seed of the first random cut; the next ones count up from it.
   * @default 1
   */
  readonly seed?: number | undefined
}

/**
 * Tests a guardrail with a forbidden text in the model's answer, plain and in many chunkings. Every
 * run must have the same outcome, and only the text of that outcome, or the text before a blocked
 * part, may leave it. Neither the forbidden part nor half of it may be in an update, a response,
 * the session, an event, the result for other middleware, or an error with all its fields. The same
 * applies to streams that break after the text.
 * @param middleware creates the guardrail for each run
 * @throws ContractViolation that names the cut and the place
 */
export async function assertSealed(
  middleware: () => MiddlewareInput,
  options: SealOptions,
): Promise<void> {
  const { text, forbidden, action, randomCuts = 20, seed = 1 } = options
  const start = text.indexOf(forbidden)
  demand(start >= 0 && forbidden !== '', 'what is forbidden must be in the text')
  const cuts: readonly Chunking[] = options.chunkings ?? [
    'char',
    ...Array.from(text.slice(1), (_, at) => cutAt(at + 1)),
    ...Array.from({ length: randomCuts }, (_, index) => ({ seed: seed + index })),
  ]
  for (const onBlock of action === 'block'
    ? (['return', 'throw'] as const)
    : (['return'] as const)) {
    const plain = await sealedRun(middleware(), text, undefined, onBlock)
    const status = action === 'block' ? 'blocked' : 'completed'
    demandSame(plain.status, status, 'the status of a run that is plain')
    demandClean(plain.sinks, options, plain.text, 'a run that is plain')
    for (const chunk of cuts) {
      const of = `a run cut ${nameOf(chunk, text)}`
      const streamed = await sealedRun(middleware(), text, chunk, onBlock)
      demandSame(streamed.status, status, `the status of ${of}`)
      demandSame(streamed.block, plain.block, `the block of ${of}`)
      demandSame(streamed.text, plain.text, `the text of ${of}`)
      if (action === 'block') {
        const isBefore = text.slice(0, start).startsWith(streamed.released)
        demand(isBefore, `only what stands before what is forbidden may have left ${of}`)
      } else demandSame(streamed.released, plain.text, `what left ${of}`)
      demandClean(streamed.sinks, options, plain.text, of)
      if (typeof chunk === 'function' || onBlock === 'throw') continue
      const broken = await sealedRun(middleware(), text, chunk, onBlock, true)
      demandClean(broken.sinks, options, plain.text, `${of}, which broke off`)
    }
  }
}

function demandClean(
  sinks: Readonly<Record<string, unknown>>,
  { text, forbidden }: SealOptions,
  outcome: string | undefined,
  of: string,
): void {
  const middle = Math.ceil(forbidden.length / 2)
  const elsewhere = text.replace(forbidden, '\0') + outcome
  const halves = [forbidden.slice(0, middle), forbidden.slice(middle)].filter(
    (half) => half.length > 2 && !elsewhere.includes(half),
  )
  for (const [place, content] of Object.entries(sinks)) {
    const isIn = searchIn(content)
    for (const part of [forbidden, ...halves]) {
      demand(!isIn(part), `what is forbidden must not be in \`${place}\` of ${of}`)
    }
  }
}

/** A run with a record of everything that leaves it. */
async function sealedRun(
  guardrail: MiddlewareInput,
  text: string,
  chunk: Chunking | undefined,
  onBlock: 'return' | 'throw',
  breaks = false,
) {
  const cache: unknown[] = []
  const audit: unknown[] = []
  const events: unknown[] = []
  const updates: AgentResponseUpdate[] = []
  const session = createSession()
  const record = async (into: unknown[], callNext: () => Promise<unknown>): Promise<void> => {
    try {
      into.push(await callNext())
    } catch (error) {
      into.push(error)
      throw error
    }
  }
  const agent = new Agent({
    client: scriptedClient(() => (breaks ? brokenOff(text, chunk) : text), { chunk }),
    middleware: [
      agentMiddleware('testing-audit', (_, callNext) => record(audit, callNext)),
      chatMiddleware('testing-trace', (_, callNext) => record(audit, callNext)),
      guardrail,
      chatMiddleware('testing-cache', (_, callNext) => record(cache, callNext)),
    ],
  })
  const options = { session, onBlock, onEvent: (event: unknown) => void events.push(event) }

  const response = await (async () => {
    if (chunk === undefined) return agent.run('Hello.', options)
    const stream = agent.run('Hello.', { ...options, stream: true })
    for await (const update of stream) updates.push(update)
    return stream.finalResponse()
  })().catch((error: unknown) => ({ error }))

  const error = 'error' in response ? response.error : undefined
  const outcome = outcomeOf(error)
  const {
    status = outcome?.status,
    block,
    text: said,
  } = {
    ...('status' in response ? response : undefined),
  }
  return {
    status,
    block,
    text: said,
    released: releasedIn(updates),
    sinks: { updates, response, session, events, cache, audit, error, outcome },
  }
}

/** The text that a reader received before anything was discarded. */
function releasedIn(updates: readonly AgentResponseUpdate[]): string {
  const end = updates.findIndex(({ restart }) => restart)
  const seen = end < 0 ? updates : updates.slice(0, end)
  const isSaid = end < 0 && updates.some(({ finishReason }) => finishReason === 'content-filter')
  // A block without a restart: nothing was released, and the sentence is the agent's.
  if (isSaid) return ''
  return seen
    .flatMap(({ contents }) => contents.map((part) => (part.type === 'text' ? part.text : '')))
    .join('')
}

/** A stream that fails after the whole text, with an error that contains the text. */
function brokenOff(text: string, chunk: Chunking | undefined): ScriptedReply {
  const updates = typeof chunk === 'function' ? chunk(text) : text.split('')
  const partial = chatResponse({ messages: text, raw: { text } })
  const about = {
    kind: 'truncated_stream',
    provider: 'scripted',
    retry: { retryable: false },
  } as const
  const cause = new ProviderError('the stream was cut', { ...about, partial })
  return { updates, error: new ProviderError('the stream broke off', { ...about, partial, cause }) }
}

function cutAt(index: number): (text: string) => readonly string[] {
  return (text) => [text.slice(0, index), text.slice(index)]
}

function nameOf(chunk: Chunking, text: string): string {
  return typeof chunk === 'function'
    ? `after ${chunk(text)[0]?.length} characters`
    : `by ${JSON.stringify(chunk)}`
}
