import type { AgentResponseUpdate, MiddlewareInput, RunEvent } from '@lamella/core'
import { Agent, createSession, jsonSchema, tool } from '@lamella/core'
import { answerChecks } from './guardrail-answer-checks.ts'
import { givenAnswerChecks } from './given-answer-checks.ts'
import { assertSealed } from './assert-sealed.ts'
import type { Chunking } from '../base/chunking.ts'
import { demand, demandSame, searchIn } from './contract-assertions.ts'
import type { ContractCheck, ContractSuite } from './contract-suite.ts'
import { contractSuite } from './contract-suite.ts'
import { timeLimitCheck } from './time-limit-check.ts'
import { scriptedClient } from '../scripted/scripted-client.ts'
import { callFunction } from '../scripted/scripted-step.ts'

/** Stage at which a guardrail judges text. */
export type JudgedStage = 'input' | 'output' | 'arguments' | 'result'

/** A text that the guardrail must act on. */
export interface GuardrailViolation {
  /** Stage at which the text passes. */
  readonly stage: JudgedStage
  /** Text that the guardrail must act on. */
  readonly text: string
  /**
   * The part that must not be released.
   * @default all of the text
   */
  readonly forbidden?: string | undefined
  /** Expected effect: `block` blocks the run, `replace` continues without the forbidden part. */
  readonly action: 'block' | 'replace'
}

/** Options of `guardrailContract`. */
export interface GuardrailContractOptions {
  /**
   * Name of the suite.
   * @default 'guardrail contract'
   */
  readonly name?: string | undefined
  /** Creates the guardrail for each run, in the mode `enforce`. */
  readonly create: () => MiddlewareInput
  /** Texts that pass at every stage. */
  readonly harmless: readonly string[]
  /** Texts that the guardrail must act on. */
  readonly violations: readonly GuardrailViolation[]
  /**
   * Creates the guardrail with each of its time limits at `ms` milliseconds, by the clock of the machine.
   * @default none: the check of long limits is left out
   */
  readonly createWithLimit?: ((ms: number) => MiddlewareInput) | undefined
  /** Names of checks to skip. */
  readonly except?: readonly string[] | undefined
}

/**
 * Creates the contract suite for a guardrail: forbidden text reaches neither the caller nor the
 * next stage.
 */
export function guardrailContract(options: GuardrailContractOptions): ContractSuite {
  const { name = 'guardrail contract', create, harmless, violations, except } = options
  const { createWithLimit } = options
  const checks: readonly ContractCheck[] = [
    ...stages.map((stage) => ({
      name: `${stage}: passes harmless texts, plain and streamed`,
      run: async () => {
        for (const text of harmless) {
          for (const chunk of [undefined, ...cuts]) {
            const run = await guardedRun(create(), stage, text, chunk)
            const of = `"${text}", ${modeOf(chunk)},`
            demandSame(run.error ?? run.status, 'completed', `the status of a run with ${of}`)
            demand(run.reached.includes(text), `${of} must pass unchanged`)
          }
        }
      },
    })),
    ...violations.flatMap(({ stage, text, forbidden, action }, index) => {
      if (stage !== 'output' || forbidden === undefined) return []
      const seal = { text, forbidden, action }
      return {
        name: `output: seals violation ${index + 1} for any chunking`,
        run: () => assertSealed(create, seal),
      }
    }),
    ...givenAnswerChecks(create, violations),
    ...answerChecks(
      create,
      violations
        .filter(({ stage }) => stage === 'input' || stage === 'result')
        .map(({ text, forbidden = text }) => ({ text, forbidden })),
    ),
    ...violations.map((violation, index) => ({
      name: `${violation.stage}: ${violation.action}s violation ${index + 1} before it is released`,
      run: () => demandStopped(create, violation),
    })),
    ...(createWithLimit ? [timeLimitCheck(createWithLimit, harmless[0] ?? 'A fish.')] : []),
  ]
  return contractSuite(name, checks, except)
}

const stages: readonly JudgedStage[] = ['input', 'output', 'arguments', 'result']
const cuts: readonly Chunking[] = ['char', 'word', 'whole', { seed: 1 }, { seed: 2 }, { seed: 3 }]

async function demandStopped(
  create: () => MiddlewareInput,
  { stage, text, forbidden = text, action }: GuardrailViolation,
): Promise<void> {
  for (const chunk of [undefined, ...cuts]) {
    const run = await guardedRun(create(), stage, text, chunk)
    const of = `of a run that is ${modeOf(chunk)}`
    const status = action === 'block' ? 'blocked' : 'completed'
    demandSame(run.error ?? run.status, status, `the status ${of}`)
    if (action === 'block') {
      demandSame(run.block?.stage, stage, `\`block.stage\` ${of}`)
      demandSame(run.reached, '', `the text after the guardrail, ${of},`)
    }
    for (const [place, content] of Object.entries(placesOf(run, stage, action))) {
      demand(!searchIn(content)(forbidden), `forbidden text must not be in \`${place}\` ${of}`)
    }
  }
}

/** Places that must not hold the forbidden part. */
function placesOf(
  { messages, streamedText, events, kept, reached, error }: GuardedRun,
  stage: JudgedStage,
  action: GuardrailViolation['action'],
): Readonly<Record<string, unknown>> {
  // Input of the user and calls of the model stay in the conversation unchanged when they are
  // replaced for the next stage.
  if (action === 'replace' && stage === 'arguments') return { events, reached, error }
  if (action === 'replace' && stage === 'input')
    return { messages, streamedText, events, reached, error }
  return { messages, streamedText, events, kept, reached, error }
}

type GuardedRun = Awaited<ReturnType<typeof guardedRun>>

/** A run in which a text passes one stage. The result has everything that it leaves behind. */
async function guardedRun(
  guardrail: MiddlewareInput,
  stage: JudgedStage,
  text: string,
  chunk: Chunking | undefined,
) {
  const received: unknown[] = []
  const echo = tool({
    name: 'test_tool',
    description: 'Takes a text and gives one.',
    parameters: jsonSchema({ type: 'object', properties: { text: { type: 'string' } } }),
    execute: (args) => {
      received.push(args)
      return stage === 'result' ? text : 'done'
    },
  })
  const isAboutTool = stage === 'arguments' || stage === 'result'
  const client = scriptedClient(
    ({ index }) => {
      if (!isAboutTool) return stage === 'output' ? text : 'Done.'
      return index === 0
        ? callFunction('test_tool', { text: stage === 'arguments' ? text : 'a text' })
        : 'Done.'
    },
    { chunk },
  )
  const session = createSession()
  const events: RunEvent[] = []
  const updates: AgentResponseUpdate[] = []
  const options = { session, onEvent: (event: RunEvent) => void events.push(event) }
  const agent = new Agent({ client, tools: [echo], middleware: guardrail })
  const input = stage === 'input' ? text : 'Hello.'

  const response = await (async () => {
    if (chunk === undefined) return agent.run(input, options)
    const stream = agent.run(input, { ...options, stream: true })
    for await (const update of stream) updates.push(update)
    return stream.finalResponse()
  })().catch((error: unknown) => ({ error }))

  const { error } = response as { readonly error?: unknown }
  const { status, block, messages } = 'status' in response ? response : noResponse
  const asked = client.requests.map((request) => request.messages)
  const behind: Record<JudgedStage, unknown> = {
    input: asked,
    output: status === 'blocked' ? '' : messages,
    arguments: received,
    result: asked.slice(1),
  }
  return {
    status,
    block,
    error: error instanceof Error ? `${error.name}: ${error.message}` : error,
    messages,
    streamedText: textsOf(updates),
    events,
    kept: session.messages,
    /** Text after the guardrail: input of the model, of the tool, or of the caller. */
    reached: textsIn(behind[stage]),
  }
}

const noResponse = { status: undefined, block: undefined, messages: [] } as const

/** All text of a stream, also text that was discarded later. */
function textsOf(updates: readonly AgentResponseUpdate[]): string {
  return updates.map(({ contents }) => textsIn(contents)).join('')
}

/** All strings in a value that are named `text`, joined. */
function textsIn(value: unknown): string {
  if (Array.isArray(value)) return value.map(textsIn).join('')
  if (typeof value !== 'object' || value === null) return ''
  return Object.entries(value)
    .map(([key, entry]) => (key === 'text' && typeof entry === 'string' ? entry : textsIn(entry)))
    .join('')
}

function modeOf(chunk: Chunking | undefined): string {
  return chunk === undefined ? 'plain' : `streamed, cut by ${JSON.stringify(chunk)}`
}
