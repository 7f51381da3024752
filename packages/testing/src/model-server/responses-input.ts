import { asList, asRecord, asString } from './json-access.ts'
import type { ModelTurn } from './model-conversation.ts'
import type { WireObject } from './wire-api.ts'
import { WireRejection } from './wire-rejection.ts'
import { readCall, textOfParts } from './wire-request.ts'

/**
 * The items that a request to the Responses API is about: those of the response it continues, then
 * its own.
 * @throws WireRejection where it continues a response that was not stored.
 */
export function inputItems(
  body: WireObject,
  stored: ReadonlyMap<string, readonly unknown[]>,
): readonly unknown[] {
  const { input, previous_response_id: previous } = body
  const own = typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input)
  if (previous === undefined || previous === null) return own
  const earlier = stored.get(asString(previous))
  if (earlier !== undefined) return [...earlier, ...own]
  throw new WireRejection(400, `Previous response with id '${asString(previous)}' not found.`, {
    code: 'previous_response_not_found',
    param: 'previous_response_id',
  })
}

/** @throws WireRejection where calls and their outputs do not fit together. */
export function readTurns(items: readonly unknown[]): {
  readonly instructions: string
  readonly turns: readonly ModelTurn[]
} {
  const instructions: string[] = []
  const turns: ModelTurn[] = []
  const open = new Set<string>()
  for (const item of items.map(asRecord)) {
    const { type = 'message', role, content } = item
    const text = textOfParts(content)
    if (type === 'function_call') {
      const call = readCall(item['call_id'], item, 'input')
      open.add(call.id)
      turns.push({ role: 'assistant', text: '', calls: [call] })
    } else if (type === 'function_call_output') {
      const callId = asString(item['call_id'])
      if (!open.delete(callId)) {
        throw new WireRejection(
          400,
          `No tool call found for function call output with call_id ${callId}.`,
          { param: 'input' },
        )
      }
      turns.push({ role: 'tool', text: textOfParts(item['output']), calls: [], callId })
    } else if (type === 'message' && (role === 'system' || role === 'developer')) {
      instructions.push(text)
    } else if (type === 'message' && (role === 'user' || role === 'assistant')) {
      turns.push({ role, text, calls: [] })
    } else if (type === 'message') {
      throw new WireRejection(
        400,
        `Invalid value: '${String(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
        { code: 'invalid_value', param: 'input' },
      )
    }
  }
  const [unanswered] = open
  if (unanswered !== undefined) {
    throw new WireRejection(400, `No tool output found for function call ${unanswered}.`, {
      param: 'input',
    })
  }
  return { instructions: instructions.join('\n'), turns }
}
