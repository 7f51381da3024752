import { jsonSchema } from '../base/json-schema.ts'
import type { AgentInfo, Middleware } from '../contract/agent.ts'
import { RunPaused } from '../contract/control-flow.ts'
import type { RunEvent } from '../contract/events.ts'
import type { AgentResponse, AgentResponseUpdate, Checkpoint } from '../contract/outcome.ts'
import type { ApprovalPolicy, Tool } from '../contract/run.ts'
import { createSession } from '../messages/session.ts'
import { tool } from '../contract/tool.ts'
import type { MessageInput } from '../messages/message.ts'
import { saveStep, checkpointState } from '../pausing/checkpoint.ts'
import type { FunctionView } from '../pipeline/function-call.ts'
import type { ToolOfAgent } from '../loop/function-loop.ts'
import { LiveTools, missingTool } from '../run/live-tools.ts'
import type { Run } from '../run/run.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import type { RunnableAgent } from './agent-call.ts'
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

/** Options of `agentTool`. */
export interface AgentToolOptions {
  /**
   * Name of the tool.
   * @default the agent's name, in which `_` replaces characters that tool names
   * may not have
   */
  readonly name?: string | undefined
  /** Description of the tool, for the model. @default the agent's description */
  readonly description?: string | undefined
  /**
   * Name of the only argument.
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
  /** Receives every update of the sub-agent, after its middleware. @default none */
  readonly onUpdate?: ((update: AgentResponseUpdate) => void | Promise<void>) | undefined
}

/**
 * Creates a tool from an agent. It runs with the caller's signal and data; its usage counts for the
 * caller, and its events and requests reach the caller of the outer run.
 *
 * @example
 * ```ts
 * import { Agent, agentTool } from '@lamella/core'
 * import { callFunction, scriptedClient } from '@lamella/testing'
 *
 * const poet = new Agent({ name: 'poet', client: scriptedClient(['Green tea, quiet rain.']) })
 * const client = scriptedClient([callFunction('poet', { task: 'A line on tea.' }), 'Done.'])
 * const agent = new Agent({ client, tools: [agentTool(poet, { description: 'Writes poems.' })] })
 * console.log((await agent.run('A line on tea, please.')).text) // Done.
 * ```
 * @throws TypeError if neither the agent nor the options have a name
 */
export function agentTool(agent: StreamingAgent, options: AgentToolOptions = {}): Tool {
  const { argument = 'task', argumentDescription = 'What to do, in full.', onUpdate } = options
  const name = options.name ?? agent.name?.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
  if (name === undefined)
    throw new TypeError('agentTool: `name` must be given for an agent without one')
  const made = tool({
    name,
    description: options.description ?? agent.description ?? '',
    parameters: jsonSchema({
      type: 'object',
      properties: { [argument]: { type: 'string', description: argumentDescription } },
      required: [argument],
      additionalProperties: false,
    }),
    approval: options.approval,
    async execute(args, context) {
      const { call, signal, session: outer } = context as FunctionView
      const { run, prepared } = call
      const { journal } = run
      const { address } = prepared
      const shares = options.shareSession === true && outer !== undefined
      const shared = {
        signal,
        data: context.data,
        parent: run,
        control: run.control,
        idempotencyKey: run.claimKey,
        onCheckpoint: run.keepsSteps
          ? (step: Checkpoint): Promise<void> | undefined => {
              journal.record({ kind: 'agent', address, checkpoint: step })
              return saveStep(run)
            }
          : undefined,
        session: shares ? { ...createSession(), state: outer.state } : undefined,
        stream: true,
        onBlock: 'return',
        onEvent: ({ id, ...event }: RunEvent) => id === undefined && run.emit(event),
        onRequest: ({ type, data }: RunEvent) => run.request({ type, data }),
      } as const
      const paused = journal.agents.get(address)
      const stream =
        paused === undefined
          ? agent.run(String(args[argument]), shared)
          : agent.resume(paused, answersFor(paused, journal.answers), shared)
      for await (const update of stream) {
        await onUpdate?.(update)
        if (update.event !== undefined) await run.sink.caughtUp()
      }
      const { checkpoint, pending, text } = await stream.finalResponse()
      journal.record({ kind: 'agent', address, checkpoint })
      if (checkpoint === undefined) return text
      // Without requests it was cancelled at a safe point: so is its caller.
      throw new RunPaused(
        pending.map((request) => ({
          ...request,
          address: request.id,
          path: [name, ...(request.path ?? [])],
        })),
      )
    },
  })
  const checkTools: ToolOfAgent['checkTools'] = (...given) => checkToolsOf(agent, ...given)
  return { ...made, resumable: true, checkTools } as ToolOfAgent
}

function checkToolsOf(
  agent: StreamingAgent,
  checkpoint: Checkpoint,
  around: Pick<Run, 'findTool' | 'journal'>,
): void {
  const { pending, tools: changed } = checkpointState(checkpoint)
  const finders = ([agent.middleware] as unknown[]).flat(Infinity) as readonly Middleware[]
  const findTool: Run['findTool'] = (name) =>
    finders.map((each) => each.findTool?.(name)).find(Boolean) ?? around.findTool(name)
  if ((agent as Partial<RunnableAgent>).settings?.onUnknownTool !== undefined) return
  const tools = new LiveTools([...agent.tools, ...(agent.options?.tools ?? [])])
  for (const request of pending) {
    const { id, path, kind } = request
    const given = around.journal.answers.get(id) as true | { approved?: unknown } | undefined
    if (kind !== 'approval' || (given !== true && given?.approved !== true)) continue
    const needed = path?.[0] ?? request.request.call.name
    const how = changed?.edited?.find(([edited]) => edited === needed)?.[1] ?? 'joined'
    const found = (tools.get(needed) ?? findTool(needed)) as ToolOfAgent | undefined
    // Agent middleware that has added it adds it again.
    if (found === undefined && how === 'joined') missingTool(needed)
    for (const step of checkpoint.journal) {
      const inner = step.kind === 'agent' ? step.checkpoint : undefined
      if (inner !== undefined && checkpointState(inner).pending.some((entry) => entry.id === id))
        found?.checkTools?.(inner, { journal: around.journal, findTool })
    }
  }
}

/** The answers to requests of a sub-agent. */
function answersFor(
  checkpoint: Checkpoint,
  answers: ReadonlyMap<string, unknown>,
): Readonly<Record<string, unknown>> {
  const { pending } = checkpointState(checkpoint)
  const given = pending.filter(({ id }) => answers.has(id))
  return Object.fromEntries(given.map(({ id }) => [id, answers.get(id)]))
}
