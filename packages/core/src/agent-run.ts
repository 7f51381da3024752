import type { Agent, RunOptions } from './agent.ts'
import { AgentCall, AgentView, runRestart, toAgentResponse } from './agent-call.ts'
import type { AgentResponse, AgentResponseUpdate, RunStatus } from './agent-response.ts'
import { decisionsForResume, decisionsFrom, waitingIn } from './approvals.ts'
import type { ChatPipeline } from './chat-call.ts'
import { chatPipeline } from './chat-call.ts'
import { mergeChatOptions } from './chat-options.ts'
import { toUpdates } from './chat-response.ts'
import type { Checkpoint } from './checkpoint.ts'
import { checkCheckpoint } from './checkpoint.ts'
import { closeRun, keepPartial } from './close-run.ts'
import { compose } from './compose.ts'
import type { FunctionPipeline } from './function-call.ts'
import { functionPipeline } from './function-call.ts'
import type { FunctionInvocationConfiguration, LoopConfiguration } from './function-invocation.ts'
import { loopConfiguration } from './function-invocation.ts'
import type { LoopInput } from './function-loop.ts'
import { runLoop } from './function-loop.ts'
import { isPause } from './interrupts.ts'
import type { Message, MessageInput } from './message.ts'
import { toMessages } from './message.ts'
import { isElsewhere, keptBy } from './kept-conversation.ts'
import type { Layers } from './middleware.ts'
import { holdsOnly, sortLayers } from './middleware.ts'
import { PumpSource } from './pump-source.ts'
import { ResponseStream } from './response-stream.ts'
import type { RunInit } from './run-init.ts'
import { Run } from './run.ts'
import { endingOf } from './run-ending.ts'
import { attachOutcome, outcomeOf } from './run-outcome.ts'
import { LiveTools } from './run-tools.ts'
import { withValue } from './structured-output.ts'
import type { GuardrailTripped } from './termination.ts'
import { isTermination } from './termination.ts'
import { drain } from './update-drain.ts'

/** What a run was asked for. */
export interface RunPlan {
  readonly agent: Agent
  readonly messages: readonly Message[]
  readonly options: RunOptions & { readonly stream?: boolean | undefined }
  readonly config: LoopConfiguration
  readonly pipelines: Pipelines
  readonly answers?: Readonly<Record<string, unknown>> | undefined
}

/** The layers of all levels, composed. */
export interface Pipelines {
  readonly layers: Layers
  readonly runLayers: (view: AgentView) => Promise<AgentResponse>
  readonly callModel: ChatPipeline
  readonly callFunction: FunctionPipeline
}

type Started = Promise<AgentResponse> | ResponseStream<AgentResponseUpdate, AgentResponse>

export function startRun(agent: Agent, input: MessageInput, options: RunPlan['options']): Started {
  return start(agent, options, toMessages(input))
}

export function resumeRun(
  agent: Agent,
  checkpoint: Checkpoint,
  answers: Readonly<Record<string, unknown>>,
  options: RunPlan['options'],
): Started {
  checkCheckpoint(checkpoint, options.session)
  return start(agent, options, checkpoint.input, checkpoint, answers)
}

/**
 * Layers of all scopes, outermost first: the client's, the agent's, the run's. The lists are read anew
 * for each run; while they hold the same layers, and the run adds none, the pipelines stay the same.
 */
export function pipelinesOf(agent: Agent, { middleware }: RunOptions): Pipelines {
  const lists = [agent.client.middleware, agent.middleware, middleware]
  const { last } = agent.composed
  if (last !== undefined && holdsOnly(lists, last.layers.all)) return last
  const layers = sortLayers(lists, 'agent')
  const pipelines = {
    layers,
    runLayers: compose<AgentView, AgentResponse>(layers.agent, runInside, recover),
    callModel: chatPipeline(layers.chat),
    callFunction: functionPipeline(layers.function),
  }
  // Nothing that a run adds outlives it.
  if (middleware === undefined) agent.composed.last = pipelines
  return pipelines
}

export function configurationOf(
  agent: Agent,
  options: { readonly functionInvocation?: FunctionInvocationConfiguration | undefined },
): LoopConfiguration {
  const { functionInvocation } = options
  if (functionInvocation === undefined) return agent.settings
  return loopConfiguration({ ...agent.functionInvocation, ...functionInvocation })
}

function start(
  agent: Agent,
  options: RunPlan['options'],
  messages: readonly Message[],
  checkpoint?: Checkpoint,
  answers?: Readonly<Record<string, unknown>>,
): Started {
  const config = configurationOf(agent, options)
  const pipelines = pipelinesOf(agent, options)
  const of: RunPlan = { agent, messages, options, config, pipelines, answers }
  const makeRun = (sink: RunInit['sink']): Run =>
    new Run({ ...options, sink, id: options.runId, agentName: agent.name, checkpoint, answers })
  if (options.stream === true) {
    return new ResponseStream(new PumpSource(makeRun, (run) => executeRun(of, run)))
  }
  return executeRun(of, makeRun(drain))
}

async function executeRun(of: RunPlan, run: Run): Promise<AgentResponse> {
  const { agent, options } = of
  run.begin()
  run.fallbackText = agent.fallbackText
  run.input = of.messages
  run.stateStore = agent.stateStore
  const call = new AgentCall(run, of)
  try {
    run.throwIfAborted()
    const view = new AgentView(call, agent, 0, {
      messages: of.messages,
      session: options.session,
      instructions: joinInstructions(agent.instructions, options.instructions),
      options: mergeChatOptions(agent.options, options.options),
      tools: options.tools ?? noTools,
      ownSignal: undefined,
    })
    let response = await of.pipelines.runLayers(view)
    run.throwIfAborted()
    const format = call.responseFormat ?? view.options.responseFormat
    if (format !== undefined) response = await withValue(response, format)
    if (response.status === 'budget_exhausted' && options.keepPartial === true) {
      keepPartial(run, response.messages)
    }
    return closeRun(agent, of.messages, run, response)
  } catch (error) {
    const failure = attachOutcome(error, run, call.hasTransformers(Infinity))
    const outcome = outcomeOf(failure)
    if (options.keepPartial === true && outcome !== undefined && outcome.status !== 'blocked') {
      keepPartial(run, outcome.messages)
    }
    throw failure
  } finally {
    run.release()
  }
}

/** The innermost handler of a run: reads the context, then lets the loop work. */
function runInside(view: AgentView): void | Promise<void> {
  const { call } = view
  const { run } = call
  prepareRun(view)
  const finished = run.finished.loop
  if (finished !== undefined) {
    const { response, absorbed } = finished
    run.finished.loop = undefined
    run.lastLoop = response
    run.messages.add(response.messages.filter(({ id }) => !absorbed.includes(id)))
    return call.deliver(response, Infinity)
  }
  call.begin()
  const { added } = run.messages
  for (const update of added.length > 0 ? toUpdates(toAgentResponse({ messages: added }, run)) : [])
    if (update.contents.length > 0) run.sink.push(update)
  return runLoop(run, loopInputOf(view)).then((response) => {
    run.lastLoop = response
    return call.conclude(response)
  })
}

/** Gives the run its tools, its conversation and what was decided, now that layers have had their say. */
function prepareRun(view: AgentView): void {
  const { call, session, options } = view
  const { run, plan } = call
  const { agent, config, answers } = plan
  const { checkpoint } = run
  const { provider } = agent.client
  run.session = session
  run.keeper = provider
  run.tools = toolsOf(agent, view, config)
  if (checkpoint?.tools !== undefined) run.tools.restore(checkpoint.tools)
  const kept = checkpoint?.keeper === provider ? checkpoint : keptBy(provider, session)
  const { conversationId = kept.conversationId } = options
  run.conversationId = conversationId
  const history = session?.messages ?? noMessages
  if (checkpoint?.conversation === undefined) {
    const isNew = conversationId !== kept.conversationId
    const isStrange = session !== undefined && isElsewhere(provider, session)
    run.sent = isNew ? (isStrange ? 0 : history.length) : kept.sent
    run.messages.begin([...history, ...view.messages])
  } else {
    run.sent = kept.sent
    run.iteration = Math.max(0, checkpoint.iteration - 1)
    const { conversation, loop, told, dropped } = checkpoint
    if (told === undefined) run.messages.begin(conversation, loop?.absorbed)
    else run.messages.beginAgain(conversation, told)
    run.messages.dropped = dropped && new Set(dropped)
  }
  run.decided ??=
    checkpoint === undefined
      ? decisionsFrom(view.messages, run.messages.all, session, agent.approvals, run)
      : decisionsForResume(checkpoint, answers ?? {}, session, agent.approvals)
  call.responseFormat = options.responseFormat
}

function loopInputOf(view: AgentView): LoopInput {
  const { call, session, instructions, options, ownSignal } = view
  const { decided, checkpoint } = call.run
  const { agent, config, pipelines } = call.plan
  return {
    client: agent.client,
    instructions,
    options,
    config,
    signal: ownSignal,
    decided: decided!,
    waitingIn: (group) => waitingIn(group, checkpoint, session, agent.approvals),
    callModel: pipelines.callModel,
    callFunction: pipelines.callFunction,
  }
}

function recover({ call }: AgentView, error: unknown): Promise<AgentResponse> {
  return endOnPurpose(call, error).catch((next: unknown) => {
    if (next === error) throw next
    // A guard further out may block what a termination put in place.
    return endOnPurpose(call, next)
  })
}

/** A termination that left the layers is an outcome, all else a failure. */
async function endOnPurpose(call: AgentCall, error: unknown): Promise<AgentResponse> {
  const { run, plan } = call
  const { agent, options } = plan
  if (isPause(error)) return ended(run, call, 'paused')
  if (!isTermination(error)) throw error
  if (error.code === 'guardrail_tripped') {
    if ((options.onBlock ?? agent.onBlock) === 'throw') throw error
    const { block } = error as GuardrailTripped
    const blocked = {
      ...toAgentResponse(block.message || agent.blockMessage, run),
      status: 'blocked' as const,
      block,
    }
    return supersede(run, { ...blocked, usage: run.usage, finishReason: 'content-filter' })
  }
  const result = error.result === undefined ? call.result : toAgentResponse(error.result, run)
  const { status, reason } = endingOf(error)
  if (result === undefined) return { ...(await ended(run, call, status)), reason }
  call.result = result
  await call.adopt(call.faultDepth(error))
  return { ...call.result, status, reason }
}

/** A response of what had been done when a run ended without one. */
async function ended(run: Run, call: AgentCall, status: RunStatus): Promise<AgentResponse> {
  const response = toAgentResponse({ messages: [...run.messages.added], usage: run.usage }, run)
  await call.conclude({ ...response, status })
  return call.result!
}

/** Puts `response` in the place of whatever the caller has seen so far. */
function supersede(run: Run, response: AgentResponse): AgentResponse {
  const { sink } = run
  sink.outer = undefined
  run.partial = undefined
  if (sink.released) sink.push(runRestart)
  for (const update of toUpdates(response)) sink.push(update)
  return response
}

const noTools: readonly never[] = Object.freeze([])
const noMessages: readonly Message[] = Object.freeze([])

function toolsOf(
  agent: Agent,
  { tools, options }: AgentView,
  config: LoopConfiguration,
): LiveTools {
  const own = agent.tools
  const more = options.tools
  const all = tools.length === 0 && more === undefined ? own : [...own, ...tools, ...(more ?? [])]
  return new LiveTools(all, config.additionalTools)
}

function joinInstructions(base: string | undefined, more: string | undefined): string | undefined {
  if (base === undefined || more === undefined || base === more) return more ?? base
  return `${base}\n${more}`
}
