import type { Content, FunctionResultContent, Message } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { callData } from '../model/call-data.ts'
import { mediaTypeOf, sourceOf, toFileData } from '../model/file-data.ts'
import { hostedPart } from './hosted-part.ts'
import type { OutputTarget } from './tool-output.ts'
import { toolOutput } from './tool-output.ts'

/** A message of a prompt. */
export interface PromptMessage extends WireObject {
  readonly role: 'system' | 'user' | 'assistant' | 'tool'
  readonly content: string | readonly WireObject[]
}

/** A prepared history as the prompt of a model. Turns of one role are one message. */
export function toPrompt(
  messages: readonly Message[],
  instructions: string | undefined,
  target: OutputTarget,
): readonly PromptMessage[] {
  const prompt: PromptMessage[] = []
  if (instructions?.trim()) prompt.push({ role: 'system', content: instructions })
  for (const message of messages) {
    const { role, contents } = message
    if (role === 'system') {
      const content = contents.map((part) => (part.type === 'text' ? part.text : '')).join('')
      if (content !== '') prompt.push({ role, content })
      continue
    }
    const parts = contents.map((part) => promptPart(part, target))
    const content = parts.filter((part) => part !== undefined)
    const last = prompt.at(-1)
    if (content.length === 0) continue
    if (last?.role === role && typeof last.content !== 'string') {
      prompt.splice(-1, 1, { role, content: [...last.content, ...content] })
    } else {
      prompt.push({ role, content })
    }
  }
  return prompt
}

/** A content as a part of a prompt, or nothing for what no part stands for. */
export function promptPart(content: Content, target: OutputTarget): WireObject | undefined {
  const providerData =
    content.type === 'function-call'
      ? callData(content.providerData).metadata
      : content.providerData
  const options = providerData === undefined ? {} : { providerOptions: providerData }
  switch (content.type) {
    case 'text':
    case 'refusal':
      return content.text === '' ? undefined : { type: 'text', text: content.text, ...options }
    case 'reasoning':
      return { type: 'reasoning', text: content.text, ...options }
    case 'data':
    case 'uri':
      return {
        type: 'file',
        mediaType: mediaTypeOf(content),
        data: toFileData(sourceOf(content, target.provider), target.version),
        ...(content.name !== undefined && { filename: content.name }),
        ...options,
      }
    case 'function-call': {
      const { callId: toolCallId, name: toolName, arguments: text } = content
      return { type: 'tool-call', toolCallId, toolName, input: inputOf(text), ...options }
    }
    case 'function-result':
      return { ...resultPart(content, target), ...options }
    case 'hosted':
      return hostedPart(content.data)
    case 'approval-response': {
      const { id: approvalId, approved, reason } = content
      const why = reason === undefined ? {} : { reason }
      return { type: 'tool-approval-response', approvalId, approved, ...why, ...options }
    }
    default:
      return undefined
  }
}

function resultPart(content: FunctionResultContent, target: OutputTarget): WireObject {
  const { callId: toolCallId, name: toolName = '' } = content
  return { type: 'tool-result', toolCallId, toolName, output: toolOutput(content, target) }
}

/** In a prompt the input is a value, in an answer its JSON. */
function inputOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
