import type { ChatOptions, Message, ToolDefinition } from '@lamella/core'
import type { ListPatch, MessageLine, PartFacts, ToolLine } from '../lines/line.ts'
import type { PartEncoder } from './part-encoder.ts'

/** Lines without the fields that all of them have. */
export type Unstamped<L> = L extends unknown ? Omit<L, 't' | 'r'> : never

/** Fields of options whose numbers and booleans are facts. */
const plainOptions = ['temperature', 'topP', 'maxOutputTokens', 'seed', 'transportRetries']

const secretKey = /key|token|secret|auth|cookie|password|credential|header/i

/** Writes requests by reference: each message and each tool once, and lists of their numbers. */
export class RequestEncoder {
  readonly #parts: PartEncoder
  readonly #numbers = new WeakMap<Message, number>()
  readonly #byContent = new Map<string, number>()
  readonly #files = new WeakMap<object, number>()
  readonly #tools = new WeakSet<object>()
  #messages = 0
  #fileCount = 0
  /** Lines that must stand before the one that is being made. */
  pending: Unstamped<MessageLine | ToolLine>[] = []

  constructor(parts: PartEncoder) {
    this.#parts = parts
  }

  numbers(messages: readonly Message[]): number[] {
    return messages.map((message) => this.#number(message))
  }

  /** How a list differs from another one. */
  patch(base: readonly Message[] | undefined, messages: readonly Message[]): ListPatch {
    const before = this.numbers(base ?? [])
    const after = this.numbers(messages)
    let same = 0
    while (same < after.length && after[same] === before[same]) same++
    return { same, rest: after.slice(same) }
  }

  options(options: ChatOptions): Record<string, unknown> {
    const { tools, toolChoice, responseFormat, ...rest } = options
    const said: Record<string, unknown> = {}
    if (tools !== undefined) said['tools'] = tools.map((tool) => this.#tool(tool))
    if (toolChoice !== undefined) said['toolChoice'] = this.#toolChoice(toolChoice)
    if (responseFormat !== undefined)
      said['responseFormat'] = typeof responseFormat === 'string' ? responseFormat : 'schema'
    for (const [key, value] of Object.entries(rest)) {
      if (value === undefined) continue
      if (key === 'model') said[key] = value
      else if (plainOptions.includes(key) && typeof value !== 'string') said[key] = value
      else said[key] = this.#parts.hasTexts ? withoutSecrets(this.#parts.plain(value)) : '…'
    }
    return said
  }

  #toolChoice(choice: NonNullable<ChatOptions['toolChoice']>): unknown {
    if (typeof choice === 'function') return 'function'
    return typeof choice === 'string' ? choice : this.#parts.name(choice.functionName)
  }

  #tool(tool: ToolDefinition): string {
    const { name } = tool
    this.#parts.learn([name])
    if (this.#parts.isFull && !this.#tools.has(tool)) {
      this.#tools.add(tool)
      const { description, jsonSchema: parameters } = tool as Partial<{
        description: string
        jsonSchema: unknown
      }>
      this.pending.push({ k: 'tool', name, description, parameters })
    }
    return name
  }

  #number(message: Message): number {
    const known = this.#numbers.get(message)
    if (known !== undefined) return known
    const number = this.#numberOf(message)
    this.#numbers.set(message, number)
    return number
  }

  /** A copy of a message is that message. */
  #numberOf({ role, contents }: Message): number {
    const key = JSON.stringify([role, contents], (_, value: unknown) =>
      value instanceof Uint8Array ? this.#file(value) : value,
    )
    const known = this.#byContent.get(key)
    if (known !== undefined) return known
    const parts: PartFacts[] = this.#parts.parts(contents)
    this.#byContent.set(key, ++this.#messages)
    this.pending.push({ k: 'msg', m: this.#messages, role, parts })
    return this.#messages
  }

  #file(bytes: Uint8Array): string {
    const number = this.#files.get(bytes) ?? ++this.#fileCount
    this.#files.set(bytes, number)
    return `file ${number}`
  }
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([key, of]) => [key, secretKey.test(key) ? '[left out]' : withoutSecrets(of)]),
  )
}
