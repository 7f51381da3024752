type Wire = Readonly<Record<string, unknown>>

/** Lists the blocks of a request behind the first question of the user, in one form for all APIs. */
export function requestBlocks(body: Wire): readonly string[] {
  const entries = listOf(body['input'] ?? body['messages'])
  const start = entries.findIndex(({ role }) => role === 'user') + 1
  const names = new Map<unknown, number>()
  return entries.slice(start).flatMap((entry) => blocksOf(entry, names))
}

function blocksOf(entry: Wire, calls: Map<unknown, number>): readonly string[] {
  const { role, type, content, tool_calls: called } = entry
  if (role === 'tool') return [result(calls, entry['tool_call_id'], content)]
  if (typeof type === 'string' && type !== 'message') return blockOf(entry, calls)
  const thought = entry['reasoning_content'] ?? entry['reasoning']
  return [
    ...(typeof thought === 'string' ? [`thinking ${thought}`] : []),
    ...(typeof content === 'string'
      ? text(content)
      : listOf(content).flatMap((part) => blockOf(part, calls))),
    ...listOf(called).flatMap((wanted) => blockOf(wanted, calls)),
  ]
}

function blockOf(block: Wire, calls: Map<unknown, number>): readonly string[] {
  const { type, id, call_id: callId, name, input, arguments: args, function: wanted } = block
  switch (type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return text(String(block['text']))
    case 'refusal':
      return text(String(block['refusal']))
    case 'thinking':
      return [`thinking ${String(block['thinking'])} ${String(block['signature'])}`]
    case 'redacted_thinking':
      return [`thinking ${String(block['data'])}`]
    case 'reasoning':
      return [`thinking ${String(block['encrypted_content'] ?? block['id'])}`]
    case 'tool_use':
      return [call(calls, id, name, input)]
    case 'function_call':
      return [call(calls, callId, name, args)]
    case 'function': {
      const { name: called, arguments: given } = wanted as Wire
      return [call(calls, id, called, given)]
    }
    case 'tool_result':
      return [result(calls, block['tool_use_id'], block['content'])]
    case 'function_call_output':
      return [result(calls, callId, block['output'])]
    default:
      return [`${String(type)} ${String(id ?? block['tool_use_id'])}`]
  }
}

function text(words: string): readonly string[] {
  return words.trim() === '' ? [] : [`text ${words.trim()}`]
}

/** Calls by their place: an SDK may have given ids of its own. */
function call(calls: Map<unknown, number>, id: unknown, name: unknown, args: unknown): string {
  calls.set(id, calls.size)
  const parsed: unknown = typeof args === 'string' ? JSON.parse(args || '{}') : args
  return `call ${calls.get(id)} ${String(name)} ${JSON.stringify(parsed)}`
}

function result(calls: Map<unknown, number>, id: unknown, content: unknown): string {
  const parts =
    typeof content === 'string' ? [content] : listOf(content).map((part) => part['text'])
  return `result ${calls.get(id)} ${parts.join('')}`
}

function listOf(value: unknown): readonly Wire[] {
  return Array.isArray(value) ? value : []
}
