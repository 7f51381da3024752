import type { ChatOptions } from '../contract/chat-options.ts'
import { mergeChatOptions } from '../contract/chat-options.ts'
import { endingOf, isPause } from '../contract/control-flow.ts'
import type { FunctionInvocationConfiguration, LoopConfiguration } from '../contract/limits.ts'
import type {
  AgentResponse,
  AgentResponseUpdate,
  Checkpoint,
  RunStatus,
} from '../contract/outcome.ts'
import type { GuardrailTripped } from '../contract/termination.ts'
import { isTermination } from '../contract/termination.ts'
import type { LoopInput } from '../loop/function-loop.ts'
import { runLoop } from '../loop/function-loop.ts'
import { loopConfiguration } from '../loop/limits.ts'
import { toUpdates } from '../messages/chat-response.ts'
import type { Message, MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import { checkAuthority } from '../messages/trusted-content.ts'
import { decisionsForResume, decisionsFrom, waitingIn } from '../pausing/approvals.ts'
import { checkCheckpoint } from '../pausing/checkpoint.ts'
import { composeModelCall } from '../pipeline/model-call.ts'
import { compose } from '../pipeline/compose.ts'
import { composeToolCall } from '../pipeline/tool-call.ts'
import { PumpSource } from '../pipeline/run-source.ts'
import { holdsOnly, sortMiddlewares } from '../pipeline/sort-middleware.ts'
import { withValue } from '../pipeline/structured-output.ts'
import { attachOutcome, outcomeOf } from '../run/failed-outcome.ts'
import { LiveTools } from '../run/live-tools.ts'
import type { RunInit } from '../run/run.ts'
import { Run, drain } from '../run/run.ts'
import { ResponseStream } from '../stream/response-stream.ts'
import type { Pipelines, RunPlan, RunnableAgent } from './agent-call.ts'
import { AgentCall, AgentView, runRestart, toAgentResponse } from './agent-call.ts'
import type { RunOptions } from './agent-options.ts'
import { modelOptionsHint, runOptionNames } from './agent-options.ts'
import { checkNames } from '../base/check-names.ts'
import { closeRun, keepPartial } from './close-run.ts'
import { isElsewhere, keptBy } from './provider-conversation.ts'

type Started = Promise<AgentResponse> | ResponseStream<AgentResponseUpdate, AgentResponse>

export function startRun(
  agent: RunnableAgent,
  input: MessageInput,
  options: RunPlan['options'],
  inside?: RunPlan['inside'],
): Started {
  return start(agent, options, toMessages(input), undefined, options.answers, inside)
}

export function resumeRun(
  agent: RunnableAgent,
  checkpoint: Checkpoint,
  answers: Readonly<Record<string, unknown>>,
  options: RunPlan['options'],
): Started {
  checkCheckpoint(checkpoint, options.session)
  return start(agent, options, checkpoint.input, checkpoint, answers)
}

/**
 * Composes middlewares of all scopes, outermost first: the client's, the agent's, the run's. The
 * lists are read for each run; the pipelines are reused while the lists are the same and the run
 * adds none.
 */
export function pipelinesOf(agent: RunnableAgent, { middleware }: RunOptions): Pipelines {
  const lists = [agent.client.middleware, agent.middleware, middleware]
  const { last } = agent.composed
  if (last !== undefined && holdsOnly(lists, last.middlewares.all)) return last
  const middlewares = sortMiddlewares(lists, 'agent')
  const pipelines = {
    middlewares,
    runMiddlewares: compose<AgentView, AgentResponse>(middlewares.agent, runInside, recover),
    callModel: composeModelCall(middlewares.chat),
    callFunction: composeToolCall(middlewares.function),
  }
  // Nothing that a run adds outlives it.
  if (middleware === undefined) agent.composed.last = pipelines
  return pipelines
}

export function configurationOf(
  agent: RunnableAgent,
  options: { readonly functionInvocation?: FunctionInvocationConfiguration | undefined },
): LoopConfiguration {
  const { functionInvocation } = options
  if (functionInvocation === undefined) return agent.settings
  return loopConfiguration({ ...agent.functionInvocation, ...functionInvocation })
}

function start(
  agent: RunnableAgent,
  options: RunPlan['options'],
  messages: readonly Message[],
  checkpoint?: Checkpoint,
  answers?: Readonly<Record<string, unknown>>,
  inside?: RunPlan['inside'],
): Started {
  checkNames('run', options, runOptionNames, modelOptionsHint)
  const config = configurationOf(agent, options)
  const pipelines = pipelinesOf(agent, options)
  const of: RunPlan = { agent, messages, options, config, pipelines, answers, inside }
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
    if (run.checkpoint === undefined) checkAuthority(of.messages)
    const chatOptions = mergeChatOptions(agent.options, options.options)
    run.tools = toolsOf(of, chatOptions)
    const tools = run.tools.visible
    run.messages.open(options.session?.messages ?? noMessages, of.messages)
    call.givenTools = tools
    const view = new AgentView(call, agent, 0, {
      messages: of.messages,
      session: options.session,
      instructions: joinInstructions(agent.instructions, options.instructions),
      options: tools.length > 0 ? { ...chatOptions, tools } : chatOptions,
      tools,
      ownSignal: undefined,
    })
    let response = await of.pipelines.runMiddlewares(view)
    run.throwIfAborted()
    const format = call.responseFormat ?? view.options.responseFormat ?? run.offer?.responseFormat
    if (format !== undefined) response = await run.unlessAborted(withValue(response, format))
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

/** Innermost handler of a run: reads the context, then runs the loop. */
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
    return call.applyTransforms(response, Infinity)
  }
  call.begin()
  const { added } = run.messages
  for (const update of added.length > 0 ? toUpdates(toAgentResponse({ messages: added }, run)) : [])
    if (update.contents.length > 0) run.sink.push(update)
  const { inside = callTools } = call.plan
  return inside(view).then((response) => {
    run.lastLoop = response
    return call.completeLoop(response)
  })
}

/** Sets the run's tools, conversation and decisions from the innermost context. */
function prepareRun(view: AgentView): void {
  const { call, session, options } = view
  const { run, plan } = call
  const { agent, answers } = plan
  const { checkpoint } = run
  const { provider } = agent.client
  run.session = session
  run.keeper = provider
  call.applyTools(view)
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
      ? decisionsFrom(view.messages, answers, session, agent.approvals, run)
      : decisionsForResume(checkpoint, answers ?? {}, session, agent.approvals)
  call.responseFormat = options.responseFormat
}

function callTools(view: AgentView): Promise<AgentResponse> {
  return runLoop(view.call.run, loopInputOf(view))
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
    // A guardrail further out may block what a termination put in place.
    return endOnPurpose(call, next)
  })
}

/** Turns a termination or pause into a response; rethrows everything else. */
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
  const { status, reason } = endingOf(error)
  // A budget judges no content, so the answer that used it up stays.
  const own = status === 'budget_exhausted' ? call.result : call.assigned
  const result = error.result === undefined ? own : toAgentResponse(error.result, run)
  if (result === undefined && call.result !== undefined) call.withhold()
  if (result === undefined) return { ...(await ended(run, call, status)), reason }
  call.result = result
  await call.acceptResult(call.faultDepth(error))
  return { ...call.result, status, reason }
}

/** Makes a response from the messages of a run that ended without one. */
async function ended(run: Run, call: AgentCall, status: RunStatus): Promise<AgentResponse> {
  const response = toAgentResponse({ messages: [...run.messages.added], usage: run.usage }, run)
  await call.completeLoop({ ...response, status })
  return call.result!
}

/** Replaces everything that the caller has received so far with `response`. */
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

function toolsOf({ agent, options, config }: RunPlan, { tools: more }: ChatOptions): LiveTools {
  const own = agent.tools
  const { tools } = options
  const all =
    tools === undefined && more === undefined
      ? own
      : [...own, ...(tools ?? noTools), ...(more ?? noTools)]
  return new LiveTools(all, config.additionalTools)
}

function joinInstructions(base: string | undefined, more: string | undefined): string | undefined {
  if (base === undefined || more === undefined || base === more) return more ?? base
  return `${base}\n${more}`
}
