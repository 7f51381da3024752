import type { Agent } from './agent.ts'
import type { AgentResponse, AgentResponseUpdate } from './agent-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { FunctionInvocationContext } from './function-context.ts'
import type { Run } from './run.ts'
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
   * Whether the sub-agent works on the session of the run that calls it.
   * @default false
   */
  readonly shareSession?: boolean | undefined
  /** Sees every update of the sub-agent, after its layers. */
  readonly onUpdate?: ((update: AgentResponseUpdate) => void | Promise<void>) | undefined
}

/** Makes a tool of an agent. It runs with the caller's signal and data, and its usage counts for the caller. */
export function agentTool(agent: Agent, options: AgentToolOptions): Tool {
  const { argument = 'task', argumentDescription = 'What to do, in full.', onUpdate } = options
  const name = options.name ?? agent.name?.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
  if (name === undefined) throw new TypeError('asTool: `name` must be given for an agent without one')
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
      const session = options.shareSession === true ? context.session : undefined
      const shared = { signal: context.signal, parent: context.run, data: context.data, session, stream: true } as const
      const paused = (context.run as Run).children[context.callId]
      const stream =
        paused === undefined
          ? agent.run(String(args[argument]), shared)
          : agent.resume(paused, await ask(context, agent, paused), shared)
      if (onUpdate !== undefined) for await (const update of stream) await onUpdate(update)
      const response = await stream.finalResponse()
      context.run.addUsage(response.usage)
      if (response.status === 'paused') return passOn(context, agent, response)
      return response.text
    },
  })
}

/** What pauses a sub-agent pauses its caller. */
async function passOn(
  context: FunctionInvocationContext,
  agent: Agent,
  response: AgentResponse,
): Promise<never> {
  const run = context.run as Run
  const checkpoint = response.checkpoint!
  run.children = { ...run.children, [context.callId]: checkpoint }
  return (await ask(context, agent, checkpoint)) as never
}

function ask(
  context: FunctionInvocationContext,
  agent: Agent,
  { id, pending }: Checkpoint,
): Promise<Readonly<Record<string, unknown>>> {
  return context.run.interrupt({ agent: agent.name, checkpoint: id, pending })
}
