import type {
  AgentContext,
  AgentMiddleware,
  FunctionCallContent,
  FunctionResultContent,
  Message,
  RunContext,
} from '@lamella/core'
import { text } from '@lamella/core'
import type { MiddlewareOptions } from '@lamella/core/authoring'
import {
  defineAgentMiddleware,
  checkOptions,
  matchResults,
  middlewareRules,
  reporter,
} from '@lamella/core/authoring'

/** Data of an event about added results. It has no content. */
export interface PatchEvent {
  /** Name of the middleware. */
  readonly middleware: string
  /** Number of calls that got a result. */
  readonly calls: number
}

/** Options of `patchToolCalls`. */
export interface PatchToolCallsOptions extends MiddlewareOptions<AgentContext, PatchEvent> {
  /**
   * Text that the model reads as the result of a call without one.
   * @default says that the call was cancelled because the conversation continued
   */
  readonly result?: ((call: FunctionCallContent) => string) | undefined
}

/**
 * Adds a result to calls that never got one, when a new message of the user follows. The model then
 * reads that the call was canceled. Calls that wait for an approval, or for a result that the caller gives, are
 * not changed.
 * @throws TypeError or RangeError that names the option and the value
 */
export function patchToolCalls(options: PatchToolCallsOptions = {}): AgentMiddleware {
  checkOptions('patchToolCalls', options, { ...middlewareRules, result: 'function?' })
  const { name = 'patch', result = () => cancelled } = options
  const report = reporter('patch', options.onEvent)

  return defineAgentMiddleware('patch', options, async (context, callNext) => {
    const { session } = context
    const history = session?.messages ?? []
    if (saysSomethingNew(context.messages, history)) {
      const open = openCalls([...history, ...context.messages], context)
      if (open.size > 0) {
        report(context.run, { middleware: name, calls: open.size })
        if (options.mode !== 'shadow') patch(context, open)
      }
    }
    await callNext()
  })

  function patch(context: AgentContext, open: ReadonlySet<FunctionCallContent>): void {
    const { session, run } = context
    const answer = (call: FunctionCallContent): FunctionResultContent => ({
      type: 'function-result',
      callId: call.callId,
      name: call.name,
      contents: [text(result(call))],
      error: { code: 'cancelled', message: 'the conversation continued without it' },
    })
    if (session !== undefined) {
      session.messages = answered(session.messages, open, answer, run.ids)
    }
    context.messages = answered(context.messages, open, answer, run.ids)
  }
}

const cancelled = 'This call was cancelled: the conversation continued before it had a result.'

/** A resumed run gets its original input again: that is not a new message. */
function saysSomethingNew(input: readonly Message[], history: readonly Message[]): boolean {
  const known = new Set(history.map(({ id }) => id))
  return input.some(
    ({ id, role, contents }) =>
      role === 'user' &&
      !known.has(id) &&
      contents.some(({ type }) => type !== 'approval-response'),
  )
}

/** Returns the calls without a result that are not pending. */
function openCalls(
  messages: readonly Message[],
  { session, run }: AgentContext,
): ReadonlySet<FunctionCallContent> {
  const waiting = new Set(session?.pending.map(({ call }) => call.callId))
  // Without a session, it is unknown if an approval is still open.
  for (const content of session === undefined ? messages.flatMap(({ contents }) => contents) : []) {
    if (content.type === 'approval-request') waiting.add(content.call.callId)
  }
  const open = new Set<FunctionCallContent>()
  for (const [call, found] of matchResults(messages).results) {
    if (call.type !== 'function-call' || call.informational === true) continue
    if (!found.includes(undefined) || waiting.has(call.callId)) continue
    const tool = run.tools.get(call.name)
    // The caller runs a tool without `execute`, and may still answer.
    const isDeclared = tool?.type === 'function' && tool.execute === undefined
    if (!isDeclared) open.add(call)
  }
  return open
}

/** Returns the messages with results for open calls, directly after the results of the others. */
function answered(
  messages: readonly Message[],
  open: ReadonlySet<FunctionCallContent>,
  answer: (call: FunctionCallContent) => FunctionResultContent,
  { createId }: RunContext['ids'],
): readonly Message[] {
  const patched: Message[] = []
  let waiting: FunctionResultContent[] = []
  const settle = (): void => {
    if (waiting.length > 0) patched.push({ id: createId('msg'), role: 'tool', contents: waiting })
    waiting = []
  }
  messages.forEach((entry) => {
    if (entry.role !== 'tool') settle()
    patched.push(entry)
    for (const content of entry.contents) {
      if (content.type === 'function-call' && open.has(content)) waiting.push(answer(content))
    }
  })
  settle()
  return patched
}
