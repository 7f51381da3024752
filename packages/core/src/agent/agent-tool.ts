import type { AgentInfo } from '../contract/agent.ts'
import { RunPaused } from '../contract/control-flow.ts'
import type { RunEvent } from '../contract/events.ts'
import type { AgentResponse, AgentResponseUpdate, Checkpoint } from '../contract/outcome.ts'
import type { ApprovalPolicy, FunctionInvocationContext, Tool } from '../contract/run.ts'
import { createSession } from '../messages/session.ts'
import { tool } from '../contract/tool.ts'
import type { MessageInput } from '../messages/message.ts'
import { saveStep } from '../pausing/checkpoint.ts'
import { engineOf } from '../run/run.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import type { RunOptions } from './agent-options.ts'

type AgentStream = ResponseStream<AgentResponseUpdate, AgentResponse>

/** An agent that a tool can run. */
interface StreamingAgent extends AgentInfo {
  run(input: MessageInput, options: RunOptions & { readonly stream: true }): AgentStream
  resume(
    checkpoint: Checkpoint,
    answers: Readonly<Record<string, unknown>>,
    options: RunOptions & { readonly stream: true },
  ): AgentStream
}

/** Options of `agent.asTool`. */
export interface AgentToolOptions {
  /**
   * Name of the tool.
   * @default the agent's name, with what tool names may not hold replaced by `_`
   */
  readonly name?: string | undefined
  /** Description of the tool, for the model. @default the agent's description */
  readonly description?: string | undefined
  /**
   * The name of the one argument.
   * @default 'task'
   */
  readonly argument?: string | undefined
  /** Description of the argument, for the model. @default 'What to do, in full.' */
  readonly argumentDescription?: string | undefined
  /** Policy that decides which calls need a person's approval. @default 'never' */
  readonly approval?: ApprovalPolicy | undefined
  /**
   * Shares the `state` of the caller's session with the sub-agent. Its messages stay separate.
   * @default false
   */
  readonly shareSession?: boolean | undefined
  /** Receives every update of the sub-agent, after its middlewares. @default none */
  readonly onUpdate?: ((update: AgentResponseUpdate) => void | Promise<void>) | undefined
}

/**
 * Makes a tool of an agent. It runs with the caller's signal and data; its usage counts for the
 * caller, and its events and questions reach the caller's caller.
 */
export function agentTool(agent: StreamingAgent, options: AgentToolOptions): Tool {
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
      const run = engineOf(context.run)
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
              return saveStep(run)
            }
          : undefined,
        session: shares ? { ...createSession(), state: outer.state } : undefined,
        stream: true,
        onEvent: ({ id, ...event }: RunEvent) => id === undefined && run.emit(event),
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

/**
 * Pauses the caller until the sub-agent's requests are answered. An interrupted sub-agent has none.
 */
async function ask(
  context: FunctionInvocationContext,
  agent: AgentInfo,
  { id, pending }: Checkpoint,
): Promise<Readonly<Record<string, unknown>>> {
  if (pending.length === 0) return {}
  return context.run.interrupt({ agent: agent.name, checkpoint: id, pending })
}
