import type { FunctionInvocationContext, FunctionMiddleware } from '@lamella/core'
import { messageOf } from './agent-part.ts'
import type { Operation } from '../telemetry/operation.ts'
import { traceOf } from '../telemetry/run-trace.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The middleware around a tool call: `execute_tool`. */
export function functionPart(telemetry: Telemetry): FunctionMiddleware['process'] {
  return async (context, callNext) => {
    const waiting = telemetry.ready()
    if (waiting !== undefined) await waiting
    const operation = open(telemetry, context)
    if (!telemetry.sees(operation)) return telemetry.within(operation, callNext)

    const { run, arguments: args } = context
    return telemetry.watch(operation, context, callNext, (ending) => {
      const { status, result } = ending
      const trace = traceOf(run, telemetry)
      const isAnswered = status === 'completed' && !context.executed
      const end = {
        ...ending,
        status: result?.error?.code ?? status,
        errorType: result?.error?.code,
        facts: { 'lamella.short_circuit': isAnswered || undefined },
        content:
          trace?.captures === true
            ? () => ({
                arguments: args,
                result: result?.value ?? result?.contents,
                message: messageOf(ending),
              })
            : undefined,
      }
      telemetry.end(operation, end, trace?.held)
    })
  }
}

function open(telemetry: Telemetry, context: FunctionInvocationContext): Operation {
  const { run, function: tool, callId, session } = context
  return telemetry.begin({
    operation: 'execute_tool',
    subject: tool.name,
    run,
    facts: telemetry.factsOf(context, {
      'gen_ai.tool.name': tool.name,
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.description': tool.description,
      'gen_ai.tool.call.id': callId,
      'gen_ai.agent.name': run.agentName,
      'gen_ai.conversation.id': session?.id,
      'lamella.run.id': run.id,
    }),
  })
}
