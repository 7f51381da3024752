import { none } from '../base/none.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { checkInstructions, resolveToolChoice } from '../contract/chat-options.ts'
import type { ChatRequest } from '../contract/chat.ts'
import type { ToolDefinition } from '../contract/run.ts'
import { ResponseFold } from '../messages/response-fold.ts'
import type { Run } from '../run/run.ts'
import type { ChatView } from './chat-call.ts'
import { superseded } from './compose.ts'
import { dropCalls } from './drop-calls.ts'
import { ownIds } from './own-ids.ts'

/** The innermost handler of a model call: reads the context, calls the provider, counts what it cost. */
export function callClient(context: ChatView): void | Promise<void> {
  const { call, client } = context
  const { run } = call
  const model = run.journal.take('model')
  if (model !== undefined) {
    run.servedBy = client.provider
    return call.applyTransforms(model.response, 0)
  }
  const request = requestOf(context)
  if (request.options.toolChoice === 'none') call.register(dropCalls(run), context.depth, '')
  run.servedBy = client.provider
  return call.stream ? streamed(context, request) : whole(context, request)
}

function requestOf({ call, messages, instructions, options, ownSignal }: ChatView): ChatRequest {
  const { run } = call
  const { offered: visible } = run.tools
  const current = withoutRemoved(options, call.shown, visible)
  const { tools = none, toolChoice, responseFormat } = current
  call.requested = { visible: call.shown, tools, toolChoice }
  checkInstructions(instructions)
  const resolved = resolveToolChoice(current, run.journal.loop)
  const signal = call.request(ownSignal, responseFormat)
  return { messages, instructions, options: resolved, signal }
}

/** Options without the tools that a middleware has removed from the run since they were made. */
function withoutRemoved(
  options: ChatOptions,
  shown: readonly ToolDefinition[],
  visible: readonly ToolDefinition[],
): ChatOptions {
  if (shown === visible || options.tools === undefined) return options
  const tools = options.tools.filter((tool) => visible.includes(tool) || !shown.includes(tool))
  return { ...options, tools: tools.length > 0 ? tools : undefined }
}

/** A middleware may have put another client in place. Its own middlewares run too. */
function isMiddlewareGuest({ call, client }: ChatView): boolean {
  return client !== call.client && client.middleware.length > 0
}

async function whole(context: ChatView, request: ChatRequest): Promise<void> {
  const { call, client, ownSignal } = context
  const { run, generation } = call
  try {
    const asked = isMiddlewareGuest(context)
      ? client.getResponse([...request.messages], callOptions(request, run))
      : client.respond(request)
    const response = await run.unlessAborted(asked, ownSignal)
    run.addUsage(response.usage)
    if (generation === call.generation) {
      const waiting = call.applyTransforms(response, Infinity, ownSignal)
      if (waiting !== undefined) await waiting
    }
    if (generation !== call.generation) throw superseded()
  } catch (error) {
    throw call.break(error, generation)
  }
  call.complete()
}

async function streamed(context: ChatView, request: ChatRequest): Promise<void> {
  const { call, client } = context
  const { run, generation } = call
  const fold = new ResponseFold(run.ids)
  try {
    const source = isMiddlewareGuest(context)
      ? client.getResponse([...request.messages], { ...callOptions(request, run), stream: true })
      : client.stream(request)
    const transforms = call.open(
      Infinity,
      fold,
      ownIds(() => run.messages.all, run.ids),
    )
    run.gather(fold)
    await run.sink.drive(source, transforms)
    if (transforms.next?.terminated === true) run.endUpdates()
    const response = fold.response()
    run.addUsage(response.usage)
    call.settle(response)
  } catch (error) {
    throw call.break(error, generation, fold)
  }
  call.complete()
}

function callOptions({ options, instructions, signal }: ChatRequest, parent: Run) {
  return { ...options, instructions, signal, parent }
}
