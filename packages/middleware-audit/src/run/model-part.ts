import type { ChatMiddleware } from '@lamella/core'
import { errorType, exitOf, usageSince } from '@lamella/core/authoring'
import type { AuditFacts } from '../record/audit-record.ts'
import { said } from './captured-content.ts'
import type { RunAudit } from './run-audit.ts'

/** The middleware around a model call, all its attempts included. */
export function modelPart(audit: RunAudit): ChatMiddleware['process'] {
  return async (context, callNext) => {
    const { run, client, messages, instructions, options, iteration } = context
    const start = audit.trail.clock.now()
    const usageBefore = run.usage
    const facts = (status: string): AuditFacts => ({
      status,
      iteration,
      provider: client.provider,
      model: options.model ?? client.model,
      messages: messages.length,
      elapsedMs: audit.trail.clock.now() - start,
      usage: usageSince(run.usage, usageBefore),
      instructions: audit.content('instructions', context, () => instructions),
      input: audit.content('input', context, () => said(messages)),
    })
    let response: Awaited<ReturnType<typeof callNext>>
    try {
      response = await callNext()
    } catch (error) {
      const status = exitOf(error, context.signal)
      const isFault = status === 'failed' || status === 'aborted'
      await audit.recordFailure('model.call', context, () => ({
        ...facts(status),
        error: isFault ? errorType(error) : undefined,
      }))
      throw error
    }
    await audit.record('model.call', context, () => ({
      ...facts('completed'),
      servedBy: run.servedBy,
      responseModel: response.model,
      finishReason: response.finishReason,
      calls: response.functionCalls.map(({ name }) => name),
      output: audit.content('output', context, () => said(response.messages)),
    }))
  }
}
