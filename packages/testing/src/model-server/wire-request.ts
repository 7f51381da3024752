import { asList, asRecord, asString } from './json-access.ts'
import type { ModelCall, ModelConversation, OfferedTool } from './model-conversation.ts'
import type { WireObject } from './wire-api.ts'
import { WireRejection } from './wire-rejection.ts'

/** The text of a message's content: a string, or a list of parts of which some are text. */
export function textOfParts(content: unknown): string {
  if (typeof content === 'string') return content
  return asList(content)
    .map((part) => asString(asRecord(part)['text']) || asString(asRecord(part)['refusal']))
    .join('')
}

/** @throws WireRejection where a required parameter is missing. */
export function demandParameter(body: WireObject, name: string): unknown {
  if (body[name] !== undefined) return body[name]
  throw new WireRejection(400, `Missing required parameter: '${name}'.`, {
    code: 'missing_required_parameter',
    param: name,
  })
}

/** A call in a history. @throws WireRejection where it has no id or no name. */
export function readCall(id: unknown, call: WireObject, param: string): ModelCall & { id: string } {
  if (asString(id) === '' || asString(call['name']) === '') {
    throw new WireRejection(
      400,
      `A tool call needs an id and a name, got ${JSON.stringify(call)}.`,
      {
        param,
      },
    )
  }
  return { id: asString(id), name: asString(call['name']), arguments: asString(call['arguments']) }
}

/** The function tools of a request. Other kinds, which a provider runs itself, are left out. */
export function readTools(
  body: WireObject,
  functionOf: (tool: WireObject) => WireObject,
): readonly OfferedTool[] {
  return asList(body['tools'])
    .map(asRecord)
    .filter((tool) => tool['type'] === 'function')
    .map((tool, index) => {
      const { name, description, parameters } = functionOf(tool) as Record<string, unknown>
      if (!/^[\w-]{1,64}$/u.test(asString(name))) {
        throw new WireRejection(
          400,
          `Invalid 'tools[${index}].name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`,
          { code: 'invalid_value', param: `tools[${index}].name` },
        )
      }
      return {
        name: asString(name),
        description: asString(description),
        parameters: asRecord(parameters),
      }
    })
}

/** @throws WireRejection where the choice names a tool that is not offered. */
export function readToolChoice(
  choice: unknown,
  tools: readonly OfferedTool[],
): ModelConversation['toolChoice'] {
  if (choice === 'none' || choice === 'required') {
    if (choice === 'required' && tools.length === 0) {
      throw new WireRejection(
        400,
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        { param: 'tool_choice' },
      )
    }
    return choice
  }
  const named = asRecord(choice)
  if (named['type'] !== 'function') return 'auto'
  const name = asString(asRecord(named['function'])['name']) || asString(named['name'])
  if (tools.some((tool) => tool.name === name)) return { name }
  throw new WireRejection(400, "Tool choice 'function' not found in 'tools' parameter.", {
    param: 'tool_choice',
  })
}

/** `format` as Responses has it in `text.format`, and Chat Completions one level deeper. */
export function readFormat(format: WireObject): ModelConversation['format'] {
  if (format['type'] === 'json_object') return 'json'
  if (format['type'] !== 'json_schema') return 'text'
  const nested = asRecord(format['json_schema'])
  return { schema: asRecord('schema' in format ? format['schema'] : nested['schema']) }
}

/** A number from 1 up, of the first of these parameters that is set. */
export function readLimit(body: WireObject, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (typeof value === 'number' && Number.isInteger(value) && value >= 1) return value
    throw new WireRejection(400, `Invalid '${name}': integer below minimum value, or no integer.`, {
      code: 'integer_below_min_value',
      param: name,
    })
  }
  return undefined
}
