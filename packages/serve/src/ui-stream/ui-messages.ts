import type { ChatHistory } from '../chats/chat-service.ts'
import type { ChatPart } from '../reader/answer-fold.ts'
import { fileOf } from './ui-file.ts'

/** A message as `useChat` keeps it. */
export interface UiMessage {
  readonly id: string
  readonly role: 'user' | 'assistant'
  readonly parts: UiPart[]
}

/** A part of a message of `useChat`. */
export interface UiPart {
  readonly type: string
  [field: string]: unknown
}

/** The messages of a chat for `useChat`: an answer is one message, with a step for each model call. */
export function uiMessages({ messages, pending }: ChatHistory): UiMessage[] {
  const shown: UiMessage[] = []
  const calls = new Map<string, UiPart>()
  for (const { id, role, contents } of messages) {
    const parts = contents as readonly ChatPart[]
    if (role === 'tool') {
      for (const part of parts) setResult(calls.get(part.callId ?? ''), part)
      continue
    }
    const isUser = role === 'user'
    const last = shown.at(-1)
    const open = !isUser && last?.role === 'assistant' ? last.parts : []
    if (isUser || last?.role !== 'assistant')
      shown.push({ id, role: isUser ? 'user' : 'assistant', parts: open })
    if (!isUser) open.push({ type: 'step-start' })
    for (const part of parts) open.push(...partOf(part, calls))
  }
  for (const { id, kind, callId, name, arguments: args } of pending) {
    if (callId === undefined || name === undefined) continue
    let call = calls.get(callId)
    if (call === undefined) {
      call = callPart(callId, name, args ?? '')
      const last = shown.at(-1)
      if (last?.role === 'assistant') last.parts.push(call)
      else shown.push({ id, role: 'assistant', parts: [call] })
    }
    if (kind === 'approval') Object.assign(call, { state: 'approval-requested', approval: { id } })
  }
  return shown
}

function partOf(part: ChatPart, calls: Map<string, UiPart>): UiPart[] {
  const { type, text, callId = '', name = '', arguments: args = '' } = part
  if (type === 'text' || type === 'refusal') return [{ type: 'text', text, state: 'done' }]
  if (type === 'reasoning') return [{ type, text, state: 'done' }]
  if (type === 'function-call') {
    const call = callPart(callId, name, args)
    calls.set(callId, call)
    return [call]
  }
  const file = fileOf(part)
  return file === undefined ? [] : [{ ...file }]
}

function callPart(toolCallId: string, toolName: string, args: string): UiPart {
  let input: unknown = args
  try {
    input = args === '' ? {} : JSON.parse(args)
  } catch {
    // It is shown as the model wrote it.
  }
  return { type: 'dynamic-tool', toolName, toolCallId, state: 'input-available', input }
}

function setResult(call: UiPart | undefined, { contents = [], error }: ChatPart): void {
  if (call === undefined) return
  if (error !== undefined) Object.assign(call, { state: 'output-error', errorText: error.code })
  else {
    const output = contents.map(({ text = '' }) => text).join('')
    Object.assign(call, { state: 'output-available', output })
  }
}
