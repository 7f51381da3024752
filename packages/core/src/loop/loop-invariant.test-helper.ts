import { expect } from 'vitest'
import type {
  Agent,
  AgentResponse,
  AgentResponseUpdate,
  Checkpoint,
  Content,
  FunctionResultContent,
  Message,
  MessageInput,
  PendingRequest,
  ResponseStream,
  RunOptions,
  Session,
} from '../index.ts'
import { foldUpdates, textOf } from '../index.ts'
import { Journal } from '../run/journal.ts'

/** Both ways to run an agent; what holds in one holds in the other. */
export const modes: readonly { readonly name: string; readonly stream: boolean }[] = [
  { name: 'plain', stream: false },
  { name: 'streaming', stream: true },
]

type ModeOptions = Omit<RunOptions, 'session'> & {
  readonly session?: Session | undefined
  readonly stream: boolean
}

export interface Played {
  readonly response: AgentResponse
  /** Empty for a plain run. */
  readonly updates: readonly AgentResponseUpdate[]
}

/** Runs the agent in one of the modes and checks what must hold of every run. */
export function play(
  agent: Agent,
  input: MessageInput,
  { stream, ...options }: ModeOptions,
): Promise<Played> {
  const before = options.session?.messages ?? []
  const running = stream ? agent.run(input, { ...options, stream }) : agent.run(input, options)
  return check(running, before, options.session)
}

/** The same for a run that is resumed, from a checkpoint that went through JSON. */
export function playOn(
  agent: Agent,
  checkpoint: Checkpoint | undefined,
  answers: Readonly<Record<string, unknown>>,
  { stream, ...options }: ModeOptions,
): Promise<Played> {
  const copy = JSON.parse(JSON.stringify(checkpoint)) as Checkpoint
  const running = stream
    ? agent.resume(copy, answers, { ...options, stream })
    : agent.resume(copy, answers, options)
  return check(running, new Journal(copy.journal).messages.all, options.session)
}

async function check(
  running: Promise<AgentResponse> | ResponseStream<AgentResponseUpdate, AgentResponse>,
  before: readonly Message[],
  session: Session | undefined,
): Promise<Played> {
  const updates: AgentResponseUpdate[] = []
  if (Symbol.asyncIterator in running) for await (const update of running) updates.push(update)
  const response = await (running instanceof Promise ? running : running.finalResponse())
  const recorded = session?.pending ?? []
  const open: PendingRequest[] = [...response.pending]
  for (const request of recorded) {
    const { id } = request
    if (open.every((entry) => entry.id !== id))
      open.push({ kind: 'approval', id, address: '', request })
  }
  const told = new Set(response.messages.map(({ id }) => id))
  expectPaired([...before.filter(({ id }) => !told.has(id)), ...response.messages], open)
  if (!(running instanceof Promise)) {
    expect(foldUpdates(updates).messages).toEqual(response.messages)
  }
  return { response, updates }
}

/** Each call that is to run here has exactly one result or one open pause. */
function expectPaired(messages: readonly Message[], pending: readonly PendingRequest[] = []): void {
  const open = new Map<string, number>()
  for (const content of messages.flatMap(({ contents }) => contents)) {
    if (content.type === 'function-call' && content.informational !== true) {
      open.set(content.callId, (open.get(content.callId) ?? 0) + 1)
    } else if (content.type === 'function-result' && open.has(content.callId)) {
      open.set(content.callId, open.get(content.callId)! - 1)
    }
  }
  // A middleware that pauses the run may hold any call of its batch.
  const isHeld = pending.some(({ kind, path }) => kind === 'interrupt' || path !== undefined)
  for (const [callId, count] of open) {
    const pauses = pending.filter((request) => callIdOf(request) === callId).length
    if (isHeld) expect([0, 1], `results missing for ${callId}`).toContain(count)
    else expect(count, `results missing for ${callId}`).toBe(pauses)
  }
}

function callIdOf(request: PendingRequest): string | undefined {
  if (request.kind === 'interrupt' || request.path !== undefined) return undefined
  return request.kind === 'approval' ? request.request.call.callId : request.call.callId
}

/** The messages in short: `assistant: call(a) · tool: result(a) …`. */
export function outline(messages: readonly Message[]): string[] {
  return messages.map(({ role, contents }) => `${role}: ${contents.map(inShort).join(', ')}`)
}

function inShort(content: Content): string {
  switch (content.type) {
    case 'text':
      return content.text
    case 'function-call':
      return `${content.name}(${content.callId})`
    case 'function-result':
      return `${content.callId} = ${content.error?.code ?? textOf(content.contents)}`
    case 'approval-request':
      return `approve ${content.call.callId}?`
    default:
      return content.type
  }
}

/** All results of tool calls, in order. */
export function resultsOf(messages: readonly Message[]): readonly FunctionResultContent[] {
  return messages
    .flatMap(({ contents }) => contents)
    .filter((content) => content.type === 'function-result')
}

/** A response without what differs from run to run. */
export function comparable(response: AgentResponse): unknown {
  return JSON.parse(
    JSON.stringify({ ...response, checkpoint: undefined }, (key, value: unknown) =>
      key === 'id' || key === 'runId' || key === 'address' ? undefined : value,
    ),
  )
}

/** Error that a run fails with. */
export async function failureOf(running: Promise<unknown>): Promise<Error> {
  try {
    await running
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}
