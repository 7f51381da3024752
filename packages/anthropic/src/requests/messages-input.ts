import type { Content, FunctionResultContent, Message } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'
import { fileBlock } from '../history/file-block.ts'
import { cached } from './tool-params.ts'

export interface InputMessage {
  readonly role: 'user' | 'assistant' | 'system'
  readonly content: WireObject[]
}

export interface Input {
  /** Blocks in front of the conversation. */
  readonly system: readonly WireObject[]
  readonly messages: readonly InputMessage[]
}

/** Facts of a model and its server that decide how a history is written. */
export interface InputRules {
  /** True if the model takes system messages within the conversation. */
  readonly hasPlaceForSystem: boolean
  /** True if each message of the assistant must begin with thinking. */
  readonly requiredThinking: boolean
}

/**
 * A prepared history in the words of the Messages API: turns of one role are one message. Later
 * system messages are sent where the model takes them, right behind the turn of the user that they
 * stand before, in or after. All others belong to the system prompt.
 */
export function toInput(
  history: readonly Message[],
  { hasPlaceForSystem, requiredThinking }: InputRules,
): Input {
  const system: WireObject[] = []
  const messages: InputMessage[] = []
  let shown: Content[] = []
  let waiting: WireObject[] = []
  const add = (role: InputMessage['role'], content: readonly WireObject[]): void =>
    addTurn(messages, role, content)
  const endTurn = (): void => {
    if (hasPlaceForSystem && messages.at(-1)?.role === 'user') add('system', waiting)
    else system.push(...waiting)
    waiting = []
  }
  for (const { role, contents } of history) {
    if (role === 'system') {
      const words = inputBlocks(contents).filter(({ type }) => type === 'text')
      if (messages.length === 0) system.push(...words)
      else waiting.push(...words)
      continue
    }
    if (role === 'tool') {
      add(
        'user',
        contents.flatMap((content) => withBreakpoint(resultBlock(content), content)),
      )
      add('user', contents.flatMap(filesOfFailed))
      continue
    }
    add('user', inputBlocks(shown))
    shown = []
    if (role === 'user') {
      add('user', inputBlocks(contents))
      continue
    }
    endTurn()
    add(
      'assistant',
      contents.flatMap((content) => withBreakpoint(outputBlock(content), content)),
    )
    // There is no place for a file in what the model said.
    shown = contents.filter(isFile)
  }
  add('user', inputBlocks(shown))
  endTurn()
  const ended = finished(messages)
  return { system, messages: requiredThinking ? ended.map(withThinking) : ended }
}

function addTurn(
  messages: InputMessage[],
  role: InputMessage['role'],
  content: readonly WireObject[],
): void {
  const last = messages.at(-1)
  if (content.length === 0) return
  if (last?.role === role) last.content.push(...content)
  else messages.push({ role, content: [...content] })
}

/** Removes the ends that the API refuses: thinking that led to nothing, and white space at the very end. */
function finished(messages: readonly InputMessage[]): readonly InputMessage[] {
  const ended: InputMessage[] = []
  for (const { role, content } of messages) {
    const end = role === 'assistant' ? content.findLastIndex((block) => !isThinking(block)) + 1 : -1
    addTurn(ended, role, end === -1 ? content : content.slice(0, end))
  }
  const { role, content } = ended.at(-1) ?? {}
  const text = content?.at(-1)?.['text']
  if (role === 'assistant' && typeof text === 'string') {
    content!.push({ ...content!.pop(), text: text.trimEnd() })
  }
  return ended
}

function withThinking(message: InputMessage): InputMessage {
  const { role, content } = message
  if (role !== 'assistant' || content.some(isThinking)) return message
  return { role, content: [{ type: 'thinking', thinking: '' }, ...content] }
}

function isThinking({ type }: WireObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function inputBlocks(contents: readonly Content[]): WireObject[] {
  return contents.flatMap((content) => {
    const blocks = inputBlock(content)
    return withBreakpoint(blocks, content)
  })
}

function inputBlock(content: Content): readonly WireObject[] {
  switch (content.type) {
    case 'text':
    case 'refusal':
      return textBlock(content.text)
    case 'data':
    case 'uri':
      return [fileBlock(content) ?? []].flat()
    case 'hosted':
      return ownBlock(content.data)
    default:
      return []
  }
}

/** A breakpoint of the prompt cache behind a content that asks for one in its `metadata`. */
function withBreakpoint(
  given: WireObject | readonly WireObject[],
  { metadata }: Content,
): readonly WireObject[] {
  const blocks = [given].flat() as readonly WireObject[]
  const time = metadata?.['cacheControl']
  const last = blocks.at(-1)
  if (time === undefined || last === undefined || isThinking(last)) return blocks
  if (time !== '5m' && time !== '1h') {
    const got = JSON.stringify(time)
    throw new RangeError(`content: \`metadata.cacheControl\` must be '5m' or '1h', got ${got}`)
  }
  return [...blocks.slice(0, -1), cached(last, time)]
}

function outputBlock(content: Content): WireObject | readonly WireObject[] {
  switch (content.type) {
    case 'text':
    case 'refusal':
      return textBlock(content.text)
    case 'reasoning': {
      const { text, protected: sealed, providerData } = content
      return recordOf(providerData)['type'] === 'redacted_thinking'
        ? { type: 'redacted_thinking', data: sealed }
        : { type: 'thinking', thinking: text, ...(sealed !== undefined && { signature: sealed }) }
    }
    case 'function-call': {
      const { callId, name, providerData } = content
      const { caller, toolset_name: toolset } = recordOf(providerData)
      return {
        type: 'tool_use',
        id: callId,
        name,
        input: JSON.parse(content.arguments),
        ...(caller !== undefined && { caller }),
        ...(toolset !== undefined && { toolset_name: toolset }),
      }
    }
    case 'hosted':
      return ownBlock(content.data)
    default:
      return []
  }
}

function resultBlock(content: Content): WireObject | readonly WireObject[] {
  if (content.type !== 'function-result') return []
  const { callId, error } = content
  return {
    type: 'tool_result',
    tool_use_id: callId,
    content: error === undefined ? resultContent(content) : textOfResult(content),
    ...(error !== undefined && { is_error: true }),
  }
}

/** A result that is an error has text only: its images stand behind the results. */
function filesOfFailed(content: Content): readonly WireObject[] {
  if (content.type !== 'function-result' || content.error === undefined) return []
  return inputBlocks(content.contents.filter(isFile))
}

/** Returns the part of a result that the model reads: one string, unless there are images or documents. */
function resultContent(result: FunctionResultContent): unknown {
  const blocks = inputBlocks(result.contents)
  return blocks.some(({ type }) => type !== 'text') ? blocks : textOfResult(result)
}

function textOfResult({ contents, error }: FunctionResultContent): string {
  // Joined as it is: white space between two texts is a part of the result.
  const text = contents.map((part) => (isText(part) ? part.text : '')).join('')
  return text === '' && error !== undefined ? `The tool failed: ${error.code}.` : text
}

function textBlock(text: string): readonly WireObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

/** Returns a block that is in Anthropic's words already. */
function ownBlock(data: unknown): readonly WireObject[] {
  const block = recordOf(data)
  return stringOf(block['type']) === undefined ? [] : [block]
}

function isFile({ type }: Content): boolean {
  return type === 'data' || type === 'uri'
}

function isText(content: Content): content is Extract<Content, { type: 'text' | 'refusal' }> {
  return content.type === 'text' || content.type === 'refusal'
}
