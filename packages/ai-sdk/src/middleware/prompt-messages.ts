import type { Content, FunctionResultContent, Message, Role } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { message } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import type { PromptMessage } from '../client/prompt.ts'
import { promptPart } from '../client/prompt.ts'
import type { OutputTarget } from '../client/tool-output.ts'
import { toFileContent } from '../model/file-data.ts'
import { fromToolOutput } from '../model/tool-result.ts'

/** A prompt in Lamella's words. */
export interface PromptMessages {
  readonly instructions: string | undefined
  readonly messages: readonly Message[]
}

/**
 * Translates prompts to messages and back. Parts that no middleware touched go back as the very parts that
 * they were.
 */
export class PromptTranslation {
  readonly #origin: Origin
  readonly #target: OutputTarget
  readonly #parts = new WeakMap<Content, WireObject>()
  #instructionOptions: unknown

  constructor(origin: Origin, target: OutputTarget) {
    this.#origin = origin
    this.#target = target
  }

  /** A system message in front becomes the instructions. */
  toMessages(prompt: unknown): PromptMessages {
    const [first, ...rest] = listOf(prompt).map(recordOf)
    if (first?.['role'] !== 'system') {
      return {
        instructions: undefined,
        messages: listOf(prompt).map((each) => this.#message(each)),
      }
    }
    this.#instructionOptions = first['providerOptions']
    return {
      instructions: stringOf(first['content']),
      messages: rest.map((each) => this.#message(each)),
    }
  }

  /** The prompt that messages are, whatever middleware made of them. */
  toPrompt(messages: readonly Message[], instructions: string | undefined): PromptMessage[] {
    const prompt: PromptMessage[] = []
    if (instructions !== undefined && instructions !== '') {
      prompt.push({ role: 'system', content: instructions, ...optionsOf(this.#instructionOptions) })
    }
    for (const { role, contents, metadata } of messages) {
      const options = optionsOf(metadata?.['providerOptions'])
      const content = this.#content(role, contents)
      if (content.length > 0) prompt.push({ role, content, ...options })
    }
    return prompt
  }

  #content(role: Role, contents: readonly Content[]): string | readonly WireObject[] {
    if (role === 'system') {
      return contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
    }
    const parts = contents.map(
      (content) => this.#parts.get(content) ?? promptPart(content, this.#target),
    )
    return parts.filter((part) => part !== undefined)
  }

  #message(value: unknown): Message {
    const { role, content, providerOptions } = recordOf(value)
    const metadata = providerOptions === undefined ? {} : { metadata: { providerOptions } }
    const origin = role === 'assistant' ? { origin: this.#origin } : {}
    if (typeof content === 'string') return { ...message(role as Role, content), ...metadata }
    const contents = listOf(content).map((each) => {
      const part = recordOf(each)
      const made = toContent(part, role, this.#origin)
      this.#parts.set(made, part)
      return made
    })
    return { ...message(role as Role, contents), ...metadata, ...origin }
  }
}

function toContent(part: WireObject, role: unknown, origin: Origin): Content {
  const { type, providerOptions } = part
  const data = providerOptions === undefined ? {} : { providerData: providerOptions }
  const text = stringOf(part['text']) ?? ''
  switch (type) {
    case 'text':
    case 'reasoning':
      return { type, text, ...data }
    case 'file': {
      const file = toFileContent(part)
      return file === undefined ? hosted(part, origin) : { ...file, ...data }
    }
    case 'tool-call': {
      const { toolCallId, toolName, input, providerExecuted } = part
      if (providerExecuted === true) return hosted(part, origin)
      return {
        type: 'function-call',
        callId: String(toolCallId),
        name: String(toolName),
        arguments: JSON.stringify(input ?? {}),
        ...data,
      }
    }
    case 'tool-result':
      return role === 'tool' ? { ...toResult(part), ...data } : hosted(part, origin)
    case 'tool-approval-response': {
      const { approvalId, approved, reason } = part
      return {
        type: 'approval-response',
        id: String(approvalId),
        approved: approved === true,
        ...(typeof reason === 'string' && { reason }),
        hosted: true,
        ...data,
      }
    }
    default:
      return hosted(part, origin)
  }
}

/** Makes content of a part that only the provider understands. */
function hosted(part: WireObject, origin: Origin): Content {
  const { toolName, kind, type, toolCallId } = part
  const id = stringOf(toolCallId)
  return {
    type: 'hosted',
    name: stringOf(toolName) ?? stringOf(kind) ?? String(type),
    ...(id !== undefined && { id: type === 'tool-call' ? id : `${id}-result` }),
    data: part,
    origin,
  }
}

function toResult({ toolCallId, toolName, output }: WireObject): FunctionResultContent {
  return {
    type: 'function-result',
    callId: String(toolCallId),
    name: String(toolName),
    ...fromToolOutput(output),
  }
}

function optionsOf(providerOptions: unknown): { readonly providerOptions?: unknown } {
  return providerOptions === undefined ? {} : { providerOptions }
}
