import type { Agent } from './agent.ts'
import type { AgentResponseUpdate } from './agent-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import { RunPaused } from './interrupts.ts'
import type { Run } from './run.ts'
import type { RunEvent } from './run-events.ts'
import { createSession } from './session.ts'
import type { ApprovalPolicy, Tool } from './tool.ts'
import { tool } from './tool.ts'

/** Options of `agent.asTool`. */
export interface AgentToolOptions {
  /** @default the agent's name, with what tool names may not hold replaced by `_` */
  readonly name?: string | undefined
  /** @default the agent's description */
  readonly description?: string | undefined
  /**
   * The name of the one argument.
   * @default 'task'
   */
  readonly argument?: string | undefined
  readonly argumentDescription?: string | undefined
  readonly approval?: ApprovalPolicy | undefined
  /**
   * Whether the sub-agent has the `state` of the caller's session. Its messages are its own.
   * @default false
   */
  readonly shareSession?: boolean | undefined
  /** Sees every update of the sub-agent, after its layers. */
  readonly onUpdate?: ((update: AgentResponseUpdate) => void | Promise<void>) | undefined
}

/**
 * Makes a tool of an agent. It runs with the caller's signal and data; its usage counts for the
 * caller, and its events and questions reach the caller's caller.
 */
export function agentTool(agent: Agent, options: AgentToolOptions): Tool {
  const { argument = 'task', argumentDescription = 'What to do, in full.', onUpdate } = options
  const name = options.name ?? agent.name?.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
  if (name === undefined)
    throw new TypeError('asTool: `name` must be given for an agent without one')
  return tool({
    name,
    description: options.description ?? agent.description ?? '',
    parameters: {
      type: 'object',
      properties: { [argument]: { type: 'string', description: argumentDescription } },
      required: [argument],
      additionalProperties: false,
    },
    approval: options.approval,
    async execute(args, context) {
      const run = context.run as Run
      const { callId, signal, session: outer } = context
      const shares = options.shareSession === true && outer !== undefined
      const shared = {
        signal,
        data: context.data,
        parent: run,
        control: run.control,
        onCheckpoint: run.keepsSteps
          ? (step: Checkpoint): Promise<void> => {
              run.children = { ...run.children, [callId]: step }
              return run.saveStep()
            }
          : undefined,
        session: shares ? { ...createSession(), state: outer.state } : undefined,
        stream: true,
        onEvent: ({ type, data, id }: RunEvent) => id === undefined && run.emit({ type, data }),
        onRequest: ({ type, data }: RunEvent) => run.request({ type, data }),
      } as const
      const paused = run.children[callId]
      const stream =
        paused === undefined
          ? agent.run(String(args[argument]), shared)
          : agent.resume(paused, await ask(context, agent, paused), shared)
      if (onUpdate !== undefined) for await (const update of stream) await onUpdate(update)
      const { checkpoint, text } = await stream.finalResponse()
      const { [callId]: _finished, ...children } = run.children
      run.children = checkpoint ? { ...children, [callId]: checkpoint } : children
      if (checkpoint === undefined) return text
      // It was cancelled at a safe point: so is its caller.
      if (checkpoint.pending.length === 0) throw new RunPaused()
      return ask(context, agent, checkpoint)
    },
  })
}

/** What pauses a sub-agent pauses its caller. One that was cut off waits for nothing. */
async function ask(
  context: FunctionInvocationContext,
  agent: Agent,
  { id, pending }: Checkpoint,
): Promise<Readonly<Record<string, unknown>>> {
  if (pending.length === 0) return {}
  return context.run.interrupt({ agent: agent.name, checkpoint: id, pending })
}
