import type { Content, FunctionResultContent, Message, ReasoningContent } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf } from '@lamella/transport'
import { inputContent, inputParts, isFile, outputContent } from './responses-content.ts'

type Item = Record<string, unknown>

/**
 * The input items of a prepared history. Reasoning goes back only in front of the item it led to
 * and with that item's id, since OpenAI refuses one without the other; without it, the ids of what
 * followed stay away, too.
 */
export function toInput(messages: readonly Message[]): Item[] {
  const items: Item[] = []
  const freeTextCalls = new Set<string>()
  let shown: Content[] = []
  const showFiles = (): void => {
    if (shown.length > 0) items.push({ role: 'user', content: inputParts(shown) })
    shown = []
  }
  for (let at = 0; at < messages.length; at++) {
    const { role, contents } = messages[at]!
    if (role === 'tool') {
      for (const content of contents) items.push(...toolItem(content, freeTextCalls))
    } else if (role === 'assistant') {
      showFiles()
      const turn = [...contents]
      while (messages[at + 1]?.role === 'assistant') turn.push(...messages[++at]!.contents)
      items.push(...assistantItems(turn, freeTextCalls))
      // There is no place for a file in what the model said, unless OpenAI made it.
      shown = turn.filter((content) => isFile(content.type) && !isGenerated(content))
    } else {
      if (role === 'system') showFiles()
      const raw = contents.flatMap((content) => passedThrough(content) ?? [])
      items.push(...raw)
      const parts = [
        ...shown,
        ...contents.filter((content) => passedThrough(content) === undefined),
      ]
      shown = []
      if (inputParts(parts).length > 0) items.push({ role, content: inputContent(parts) })
    }
  }
  showFiles()
  return withOwnIds(items)
}

/** Servers that number their items anew in each response refuse an id that they find twice. */
function withOwnIds(items: readonly Item[]): Item[] {
  const counts = new Map<string, number>()
  return items.map((item) => {
    const id = stringOf(item['id'])
    // An approval is answered by this id.
    if (id === undefined || item['type'] === 'mcp_approval_request') return item
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    return count === 1 ? item : { ...item, id: `${id}_${count}` }
  })
}

function toolItem(content: Content, freeTextCalls: ReadonlySet<string>): Item[] {
  if (content.type !== 'function-result') return passedThrough(content) ?? []
  const type = freeTextCalls.has(content.callId)
    ? 'custom_tool_call_output'
    : 'function_call_output'
  return [{ type, call_id: content.callId, output: resultOutput(content) }]
}

function resultOutput({ contents, error }: FunctionResultContent): unknown {
  const output = outputContent(contents)
  return output === '' && error !== undefined ? `The tool failed: ${error.code}.` : output
}

function assistantItems(turn: readonly Content[], freeTextCalls: Set<string>): Item[] {
  const items: Item[] = []
  let sentReasoning: string | undefined
  for (let at = 0; at < turn.length; at++) {
    const content = turn[at]!
    const data = recordOf(content.providerData)
    // Nothing with an id may come without the reasoning that it came from.
    const reasoningId = stringOf(data['reasoningId'])
    const id =
      reasoningId === undefined || reasoningId === sentReasoning
        ? stringOf(data['itemId'])
        : undefined
    switch (content.type) {
      case 'reasoning': {
        const parts = reasoningAt(turn, at)
        at += parts.length - 1
        const item = reasoningItem(parts)
        const isFollowed = recordOf(turn[at + 1]?.providerData)['reasoningId'] === item?.['id']
        if (item !== undefined && isFollowed) {
          items.push(item)
          sentReasoning = String(item['id'])
        }
        break
      }
      case 'text':
        addSaid(items, { type: 'output_text', text: content.text, annotations: [] }, id, data)
        break
      case 'refusal':
        addSaid(items, { type: 'refusal', refusal: content.text }, id, data)
        break
      case 'function-call': {
        const { callId, name } = content
        const { type, namespace, caller, async: isAsync } = data
        const extra = { namespace, caller, async: isAsync }
        const call = { call_id: callId, name, id }
        if (type === 'custom') {
          freeTextCalls.add(callId)
          items.push({ ...extra, type: 'custom_tool_call', ...call, input: content.arguments })
        } else {
          items.push({ ...extra, type: 'function_call', ...call, arguments: content.arguments })
        }
        break
      }
      case 'data':
        if (isGenerated(content) && (id !== undefined || reasoningId === undefined)) {
          const { reasoningId: _reasoning, itemId: _id, ...item } = data
          items.push({ ...item, id: data['itemId'], result: content.data })
        }
        break
      default:
        // Its id cannot be left out, so what a hosted tool did goes with its reasoning or not at all.
        if (reasoningId === undefined || reasoningId === sentReasoning) {
          items.push(...(passedThrough(content) ?? []))
        }
    }
  }
  return items
}

function addSaid(items: Item[], part: Item, id: string | undefined, data: WireObject): void {
  const last = items.at(-1)
  const phase = stringOf(data['phase'])
  if (id !== undefined && last?.['type'] === 'message' && last['id'] === id) {
    ;(last['content'] as Item[]).push(part)
  } else if (id !== undefined) {
    items.push({
      type: 'message',
      id,
      role: 'assistant',
      status: 'completed',
      phase,
      content: [part],
    })
  } else {
    const content = part['type'] === 'output_text' ? part['text'] : [part]
    items.push({ role: 'assistant', phase, content })
  }
}

/** The parts of one reasoning item: they stand together and name it. */
function reasoningAt(turn: readonly Content[], start: number): ReasoningContent[] {
  const parts: ReasoningContent[] = []
  const itemId = recordOf(turn[start]!.providerData)['itemId']
  for (let at = start; at < turn.length; at++) {
    const content = turn[at]!
    if (content.type !== 'reasoning' || recordOf(content.providerData)['itemId'] !== itemId) break
    parts.push(content)
  }
  return parts
}

function reasoningItem(parts: readonly ReasoningContent[]): Item | undefined {
  const data = recordOf(parts[0]?.providerData)
  const id = stringOf(data['itemId'])
  const sealed = parts.find((part) => part.protected !== undefined)?.protected
  const raw = parts.filter(({ kind, text }) => kind === 'raw' && text !== '')
  // Without its content, OpenAI can only look it up, if it kept it.
  if (id === undefined || (sealed === undefined && raw.length === 0 && data['stored'] !== true))
    return undefined
  return {
    type: 'reasoning',
    id,
    summary: parts
      .filter(({ kind, text }) => kind !== 'raw' && text !== '')
      .map(({ text }) => ({ type: 'summary_text', text })),
    ...(raw.length > 0 && { content: raw.map(({ text }) => ({ type: 'reasoning_text', text })) }),
    encrypted_content: sealed,
  }
}

function isGenerated(content: Content): boolean {
  return recordOf(content.providerData)['type'] === 'image_generation_call'
}

/** Returns the items that are in the provider's own words already. */
function passedThrough(content: Content): Item[] | undefined {
  if (content.type === 'hosted') {
    const { type, status } = recordOf(content.data)
    const isHalf = status === 'in_progress' || status === 'searching' || status === 'interpreting'
    return typeof type === 'string' && !isHalf ? [{ ...recordOf(content.data) }] : []
  }
  if (content.type === 'approval-request') {
    const { id, call, providerData } = content
    const { serverLabel } = recordOf(providerData)
    return [
      {
        type: 'mcp_approval_request',
        id,
        name: call.name,
        arguments: call.arguments,
        server_label: serverLabel,
      },
    ]
  }
  if (content.type === 'approval-response') {
    const { id, approved, reason } = content
    return [
      {
        type: 'mcp_approval_response',
        approval_request_id: id,
        approve: approved,
        reason,
      },
    ]
  }
  return undefined
}
