import type { AgentContext, AgentMiddleware, AgentResponse, Block, RunContext } from '@lamella/core'
import { usageSince } from '@lamella/core/authoring'
import type { Facts } from '../base/conventions.ts'
import { providerName, providerOf } from '../base/conventions.ts'
import { finishReasons } from '../base/finish-reasons.ts'
import type { Ending, Operation } from '../telemetry/operation.ts'
import { writeEvents } from '../telemetry/run-events.ts'
import { earlierParts, keepPart, keepTrace, newTrace, traceOf } from '../telemetry/run-trace.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The middleware around a run: `invoke_agent`. */
export function agentPart(telemetry: Telemetry): AgentMiddleware['process'] {
  return async (context, callNext) => {
    const waiting = telemetry.ready()
    if (waiting !== undefined) await waiting
    const { run, messages, agent } = context
    const operation = open(telemetry, context)
    if (!telemetry.sees(operation)) return telemetry.within(operation, callNext)

    const usageBefore = run.usage
    const trace = newTrace(telemetry, operation, run, agent.client)
    telemetry.safely(() => keepTrace(run, telemetry, trace))
    // Immediately: an interrupted run has no end.
    telemetry.safely(() => keepAddress(telemetry, operation))
    const unobserve = writeEvents(telemetry, run, trace)
    return telemetry.watch(operation, context, callNext, (ending) => {
      unobserve()
      const { result: response } = ending
      const status = response?.status ?? ending.status
      try {
        const end = {
          ...ending,
          status,
          usage: usageSince(run.usage, usageBefore),
          cost: trace.cost || undefined,
          facts: outcome(ending, run, trace.hasCalled),
          content: trace.captures
            ? () => ({ input: messages, output: response?.messages, message: messageOf(ending) })
            : undefined,
        }
        telemetry.end(operation, end, trace.held)
      } finally {
        // The content of a sub-agent waits for its outer run, which a guardrail may also block.
        const outer = run.parent && traceOf(run.parent, telemetry)
        const release = (isSealed: boolean): void => {
          for (const finish of trace.held) finish(isSealed || status === 'blocked')
        }
        if (outer === undefined) release(false)
        else outer.held.push(release)
      }
    })
  }
}

/** The message of a failure, which may quote content. */
export function messageOf({ status, ...ending }: Ending<unknown>): string | undefined {
  return status === 'failed' && 'error' in ending ? String(ending.error) : undefined
}

function open(telemetry: Telemetry, context: AgentContext): Operation {
  const { agent, run, messages, session, options } = context
  const { client } = agent
  const earlier: ReturnType<typeof earlierParts>[number][] = []
  telemetry.safely(() => earlier.push(...earlierParts(run, telemetry.name)))
  return telemetry.begin({
    operation: 'invoke_agent',
    subject: agent.name,
    run,
    facts: telemetry.factsOf(context, {
      [providerName]: providerOf(client.provider),
      'gen_ai.request.model': options.model ?? client.model,
      'gen_ai.agent.name': agent.name,
      'gen_ai.agent.description': agent.description,
      'gen_ai.conversation.id': session?.id,
      'lamella.run.id': run.id,
      'lamella.run.parent_id': run.parent?.id,
      'lamella.run.depth': run.depth || undefined,
      'lamella.run.resumed': earlier.length > 0 || undefined,
      'lamella.run.messages': messages.length,
    }),
    messages: messages.length,
    links: earlier.map((part) => ({
      context: { ...part, isRemote: true },
      attributes: { 'lamella.link': 'resumed' },
    })),
  })
}

function outcome(ending: Ending<AgentResponse>, run: RunContext, hasCalled: boolean): Facts {
  const { result: response } = ending
  const facts: Facts = { 'lamella.attempts': run.attempts.length || undefined }
  if (response === undefined) {
    return ending.status === 'blocked'
      ? { ...facts, ...blockFacts((ending.error as { block?: Block }).block) }
      : facts
  }
  const { finishReason, model, block, pending, status } = response
  const isAnswer = status === 'completed' || status === 'terminated'
  return {
    ...facts,
    'gen_ai.response.finish_reasons': finishReasons(finishReason),
    'gen_ai.response.model': model,
    // An inner middleware has answered without the loop.
    'lamella.short_circuit': (isAnswer && !hasCalled) || undefined,
    'lamella.pending': pending.length || undefined,
    ...blockFacts(block),
  }
}

function blockFacts(block: Block | undefined): Facts {
  return {
    'lamella.block.guardrail': block?.guardrail,
    'lamella.block.category': block?.category,
    'lamella.block.level': block?.level,
    'lamella.block.stage': block?.stage,
  }
}

function keepAddress(telemetry: Telemetry, operation: Operation): void {
  const address = telemetry.addressOf(operation)
  if (address !== undefined) keepPart(operation.start.run, telemetry.name, address)
}
