import type {
  AgentResponse,
  Message,
  MessageInput,
  RunEvent,
  RunOptions,
  Usage,
} from '@lamella/core'
import type { Agent, MiddlewareInput } from '@lamella/core'
import { addUsage, messageText, outcomeOf } from '@lamella/core'
import { isObject, toMessages } from '@lamella/core/authoring'
import { recorder } from '@lamella/picture'
import type { EvaluationCase } from '../cases/evaluation-case.ts'
import { copyAgent } from './copy-agent.ts'
import type { EvaluatedRun } from './evaluated-run.ts'
import { toolCallsOf } from './evaluated-run.ts'
import type { ToolSource } from './tool-source.ts'
import type { User } from './user.ts'

/** Settings that all runs of an evaluation share. */
export interface RunSetup {
  readonly tools: ToolSource | undefined
  readonly user: User | undefined
  /** Innermost middleware, which counts the cost. */
  readonly budget: MiddlewareInput
  readonly hasPrices: boolean
  readonly runOptions: ((of: EvaluationCase) => CaseRunOptions) | undefined
  readonly signal: AbortSignal
  readonly now: () => number
}

/** Options of the agent's runs that an evaluation does not set itself. */
export type CaseRunOptions = Pick<
  RunOptions,
  'data' | 'tenant' | 'principal' | 'options' | 'instructions' | 'onRequest'
>

/** A run with its recording. */
export interface RecordedRun {
  readonly run: EvaluatedRun
  /** Recording with full content, for `pictureOf`. */
  readonly recording: string
  /** True if the budget of the evaluation ended the run. */
  readonly isOverBudget: boolean
}

/** Name of the budget of an evaluation, in its events. */
export const budgetName = 'evaluation'

/** Runs all turns of a case. Rejects only if the evaluation was aborted. */
export async function runCase(
  agent: Agent,
  of: EvaluationCase,
  run: number,
  setup: RunSetup,
): Promise<RecordedRun> {
  const { tools, user, budget, hasPrices, runOptions, signal, now } = setup
  let recording = ''
  const sink = { write: (lines: string) => void (recording += lines) }
  const record = recorder({ sink, capture: 'full' })
  const recorded = copyAgent(agent, {
    middleware: record.middleware(agent.middleware),
    ...(tools && { tools: tools(agent.tools, of) }),
  })
  const session = recorded.createSession()
  const messages: Message[] = []
  const responses: AgentResponse[] = []
  let usage: Usage = {}
  let costUsd = 0
  let elapsedMs = 0
  let isOverBudget = false
  let error: unknown
  const onEvent = ({ type, data }: RunEvent): void => {
    if (type !== 'budget' || !isObject(data) || data['budget'] !== budgetName) return
    if (data['status'] === 'settled')
      costUsd += Number((data['spent'] as { costUsd?: number }).costUsd)
    if (data['status'] === 'exhausted') isOverBudget = true
  }
  const scripted = [...(of.turns ?? [])]
  let input: MessageInput | undefined = of.input
  while (input !== undefined) {
    messages.push(...toMessages(input))
    const start = now()
    try {
      const response = await recorded.run(input, {
        ...runOptions?.(of),
        session,
        middleware: budget,
        onEvent,
        signal,
      })
      responses.push(response)
      messages.push(...response.messages)
      usage = addUsage(usage, response.usage)
      if (response.status === 'paused' || response.status === 'budget_exhausted') break
    } catch (reason) {
      signal.throwIfAborted()
      const outcome = outcomeOf(reason)
      messages.push(...(outcome?.messages ?? []))
      usage = addUsage(usage, outcome?.usage)
      error = reason ?? new Error('the run rejected without a reason')
      break
    } finally {
      elapsedMs += now() - start
    }
    input = scripted.shift() ?? (await user?.({ case: of, messages, signal }))
  }
  await record.flush()
  const last = error === undefined ? responses.at(-1) : undefined
  return {
    recording,
    isOverBudget,
    run: {
      case: of,
      run,
      status: last?.status ?? 'failed',
      text: last?.text ?? '',
      messages,
      responses,
      toolCalls: toolCallsOf(messages),
      block: last?.block,
      error,
      usage,
      costUsd: hasPrices ? costUsd : undefined,
      elapsedMs,
      signal,
    },
  }
}

/** First input of a case as text. */
export function inputText({ input }: EvaluationCase): string {
  return toMessages(input).map(messageText).join('\n')
}
