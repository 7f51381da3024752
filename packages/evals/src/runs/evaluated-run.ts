import type { AgentResponse, Block, Message, RunStatus, Usage } from '@lamella/core'
import { messageText } from '@lamella/core'
import { matchResults, parseArguments } from '@lamella/core/authoring'
import { textOf } from '@lamella/core'
import type { EvaluationCase } from '../cases/evaluation-case.ts'

/** A tool call of an evaluated run, with its result. */
export interface EvaluatedToolCall {
  /** Name of the tool. */
  readonly name: string
  /** Arguments as the model wrote them, parsed. Empty if they are not a JSON object. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** Text of the result. Undefined if there is none. */
  readonly result: string | undefined
  /** Code of the error, if the call failed. Undefined if it did not. */
  readonly error: string | undefined
}

/** One run of a case: what checks and scores read. */
export interface EvaluatedRun {
  /** The case. */
  readonly case: EvaluationCase
  /** Number of the run: 0 for the first one of its case. */
  readonly run: number
  /** Status of the last turn. `failed` if it rejected. */
  readonly status: RunStatus | 'failed'
  /** Answer of the last turn. */
  readonly text: string
  /** Messages of all turns, of the user as well. */
  readonly messages: readonly Message[]
  /** Responses of the turns. */
  readonly responses: readonly AgentResponse[]
  /** Tool calls of all turns, in order. */
  readonly toolCalls: readonly EvaluatedToolCall[]
  /** Block of the last turn, if a guardrail blocked it. */
  readonly block: Block | undefined
  /** Error of the turn that failed. */
  readonly error: unknown
  /** Tokens of all turns. */
  readonly usage: Usage
  /** US dollars of all turns. Undefined without `prices`. */
  readonly costUsd: number | undefined
  /** Milliseconds that the agent took in all turns, without the user. */
  readonly elapsedMs: number
  /** Signal of the evaluation. */
  readonly signal: AbortSignal
}

/** Lists the tool calls of a conversation with their results. */
export function toolCallsOf(messages: readonly Message[]): EvaluatedToolCall[] {
  const { results } = matchResults(messages)
  const calls: EvaluatedToolCall[] = []
  for (const { contents } of messages) {
    for (const content of contents) {
      if (content.type !== 'function-call') continue
      const result = results.get(content)?.shift()
      calls.push({
        name: content.name,
        arguments: parseArguments(content.arguments).value ?? {},
        result: result && textOf(result.contents),
        error: result?.error?.code,
      })
    }
  }
  return calls
}

/** The conversation of a run as text, for judges: one paragraph for each message and tool call. */
export function transcriptOf({ messages }: Pick<EvaluatedRun, 'messages'>): string {
  const names: Readonly<Record<string, string>> = { user: 'User', assistant: 'Assistant' }
  return messages
    .flatMap((message) => {
      const text = messageText(message)
      const name = names[message.role]
      return name === undefined || text === '' ? [] : [`${name}: ${text}`]
    })
    .join('\n\n')
}
