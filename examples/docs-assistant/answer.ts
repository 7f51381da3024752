import type { Agent, AgentResponse, Content, Session, Usage } from '@lamella/core'
import { addUsage, outcomeOf } from '@lamella/core'
import { count, tokens } from './in-words.ts'
import { stepOf } from './middleware-step.ts'
import type { Screen } from './screen.ts'

/** Sums the usage of all questions. */
export class Totals {
  modelCalls = 0
  failedCalls = 0
  toolCalls = 0
  usage: Usage = {}

  toString(): string {
    const failed = this.failedCalls === 0 ? '' : ` (${this.failedCalls} failed)`
    return `${count(this.modelCalls, 'model call')}${failed}, ${count(this.toolCalls, 'tool call')}, ${tokens(this.usage)}`
  }
}

export interface AnswerOptions {
  readonly screen: Screen
  readonly totals: Totals
  readonly session?: Session | undefined
  readonly signal?: AbortSignal | undefined
}

/** Runs the agent on a question and shows the stream: steps of middleware, and the answer. */
export async function answer(
  agent: Agent,
  question: string,
  { screen, totals, session, signal }: AnswerOptions,
): Promise<AgentResponse> {
  const stream = agent.run(question, { stream: true, session, signal })
  try {
    for await (const update of stream) {
      if (update.restart === true) screen.hint('(the answer begins anew)')
      const step = stepOf(update.event)
      if (step !== undefined) {
        screen.step(step)
        if (step.middleware === 'tool-log' && step.mark === 'in') totals.toolCalls++
        if (step.middleware === 'model-log' && step.mark === 'in') totals.modelCalls++
        if (step.middleware === 'model-log' && step.mark === 'failed') totals.failedCalls++
      }
      for (const content of update.contents) show(content, screen)
    }
    const response = await stream.finalResponse()
    totals.usage = addUsage(totals.usage, response.usage)
    screen.blank()
    const { block, status, reason } = response
    const end =
      block === undefined
        ? `${status}: ${reason ?? 'no reason given'}`
        : `${status} by ${block.guardrail} (${block.category}): the sentence above is all that the user sees`
    if (status !== 'completed') screen.line(screen.style('yellow', end))
    return response
  } catch (error) {
    totals.usage = addUsage(totals.usage, outcomeOf(error)?.usage)
    screen.blank()
    throw error
  }
}

function show(content: Content, screen: Screen): void {
  if (content.type === 'text' || content.type === 'refusal') screen.answer(content.text)
  if (content.type !== 'function-result') return
  const { code, message } = content.error ?? {}
  // These never reach a tool or its middleware.
  if (code !== 'unknown_tool' && code !== 'invalid_arguments') return
  screen.hint(`${content.name ?? 'a tool'} was not called: ${message}`)
}
