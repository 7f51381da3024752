import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import type { Content, FunctionCallContent, Message, Role } from '@lamella/core'
import { parseArguments } from '@lamella/core/authoring'
import type { RunInput } from './run-input.ts'

type Block = Readonly<Record<string, unknown>>

/** The text of a message's content. */
export function textOfContent(content: unknown): string {
  return blocksOf(content)
    .map((block) => (block['type'] === 'text' ? String(block['text']) : ''))
    .join('')
}

/** A content with another text; its other blocks stay. */
export function withText(content: unknown, text: string): never {
  if (typeof content === 'string') return text as never
  const others = blocksOf(content).filter(({ type }) => type !== 'text')
  return [{ type: 'text', text }, ...others] as never
}

/** A conversation of LangChain in Lamella's messages, and the way back. */
export class Conversation {
  readonly instructions: string | undefined
  readonly messages: readonly Message[]
  readonly #systems: readonly BaseMessage[]
  readonly #known = new Map<string, { readonly original: BaseMessage; readonly contents: string }>()

  constructor(given: readonly BaseMessage[]) {
    this.#systems = given.filter((one) => one.type === 'system')
    const texts = this.#systems.map(({ content }) => textOfContent(content))
    this.instructions = texts.length === 0 ? undefined : texts.join('\n\n')
    this.messages = given
      .filter((one) => one.type !== 'system')
      .map((original, index) => {
        const contents = contentsOf(original)
        const id = original.id ?? `langchain_${index}`
        this.#known.set(id, { original, contents: JSON.stringify(contents) })
        return { id, role: roleOf(original), contents }
      })
  }

  /** The conversation with what the middleware around the run did to the input that it began with. */
  edited(given: RunInput, input: RunInput): RunInput {
    const began = new Set(given.messages.map(({ id }) => id))
    const kept = new Map(input.messages.map((one) => [one.id, one]))
    const added = input.messages.filter(({ id }) => !began.has(id))
    const messages = this.messages.flatMap((one) =>
      began.has(one.id) ? (kept.get(one.id) ?? []) : one,
    )
    const isEdited = input.instructions !== given.instructions
    return {
      messages: [...added, ...messages],
      instructions: isEdited ? input.instructions : this.instructions,
    }
  }

  /** Messages that nobody has changed are the given objects. */
  back(messages: readonly Message[], instructions: string | undefined): BaseMessage[] {
    const systems =
      instructions === this.instructions
        ? this.#systems
        : instructions === undefined
          ? []
          : [new SystemMessage(instructions)]
    return [...systems, ...messages.map((one) => this.#messageOf(one))]
  }

  #messageOf({ id, role, contents }: Message): BaseMessage {
    const known = this.#known.get(id)
    if (known?.contents === JSON.stringify(contents)) return known.original
    return rebuilt(role, contents, known?.original)
  }
}

/** Text, reasoning, calls and results of a message; anything else as hosted content. */
export function contentsOf(message: BaseMessage): readonly Content[] {
  if (ToolMessage.isInstance(message)) {
    const { tool_call_id: callId, name } = message
    const contents = blocksOf(message.content).map(contentOf)
    return [{ type: 'function-result', callId, name, contents }]
  }
  const calls = callsOf(message)
  // Some providers have calls among the blocks as well.
  const blocks = blocksOf(message.content).filter((block) => !isCall(block))
  return [...blocks.map(contentOf), ...calls]
}

function contentOf(block: Block): Content {
  const { type, reasoning = '' } = block
  if (type === 'text') return { type, text: String(block['text']) }
  if (type === 'reasoning') return { type, text: String(reasoning), providerData: block }
  return { type: 'hosted', name: String(type), data: block }
}

function blockOf(content: Content): Block {
  if (content.type === 'text') return { type: 'text', text: content.text }
  if (content.type === 'reasoning')
    return { ...(content.providerData as Block), type: 'reasoning', reasoning: content.text }
  if (content.type === 'hosted') return content.data as Block
  return { type: 'text', text: '' }
}

function callsOf(message: BaseMessage): readonly FunctionCallContent[] {
  if (!AIMessage.isInstance(message)) return []
  return (message.tool_calls ?? []).map(({ id, name, args }, index) => ({
    type: 'function-call',
    callId: id ?? `call_${index}`,
    name,
    arguments: JSON.stringify(args),
  }))
}

function rebuilt(role: Role, contents: readonly Content[], original?: BaseMessage): BaseMessage {
  const { id, name } = original ?? {}
  const facts = { ...(id !== undefined && { id }), ...(name !== undefined && { name }) }
  if (role === 'tool') {
    const [result] = contents
    if (result?.type !== 'function-result')
      return new ToolMessage({ content: '', tool_call_id: '' })
    const status = (original as ToolMessage | undefined)?.status
    return new ToolMessage({
      ...facts,
      content: contentBack(result.contents),
      tool_call_id: result.callId,
      ...(status !== undefined && { status }),
    })
  }
  if (role === 'assistant') {
    const calls = contents.filter((content) => content.type === 'function-call')
    const callBlocks = blocksOf(original?.content).filter(isCall)
    const rest = contents.filter((content) => content.type !== 'function-call')
    const content = contentBack(rest)
    const tool_calls = calls.map((call) => toolCallOf(call))
    if (callBlocks.length === 0 || typeof content !== 'string') {
      return new AIMessage({ ...facts, content, tool_calls })
    }
    const blocks = callBlocks.flatMap((block) => {
      const call = tool_calls.find((one) => one.id === block['id'])
      return call === undefined ? [] : [{ ...block, input: call.args }]
    })
    const words = content === '' ? [] : [{ type: 'text', text: content }]
    return new AIMessage({ ...facts, content: [...words, ...blocks] as never, tool_calls })
  }
  return new HumanMessage({ ...facts, content: contentBack(contents) })
}

/** A call as LangChain has it. */
export function toolCallOf({ callId, name, arguments: text }: FunctionCallContent) {
  const args: Record<string, unknown> = { ...parseArguments(text) }
  return { type: 'tool_call' as const, id: callId, name, args }
}

function contentBack(contents: readonly Content[]): never {
  const isText = contents.every(({ type }) => type === 'text')
  const blocks = contents.map(blockOf)
  return (isText ? blocks.map((block) => block['text']).join('') : blocks) as never
}

function blocksOf(content: unknown): readonly Block[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content)) return []
  return content.map((block: unknown) =>
    typeof block === 'string' ? { type: 'text', text: block } : (block as Block),
  )
}

function isCall({ type }: Block): boolean {
  return (
    type === 'tool_use' ||
    type === 'tool_call' ||
    type === 'input_json_delta' ||
    type === 'tool_call_chunk'
  )
}

function roleOf(message: BaseMessage): Role {
  if (message.type === 'ai') return 'assistant'
  return message.type === 'tool' ? 'tool' : 'user'
}
