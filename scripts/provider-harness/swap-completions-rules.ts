import type { Wire } from './swap-problems.ts'
import { OpenCalls, Problems, wire, wires } from './swap-problems.ts'

const bodyFields =
  'model! messages! stream stream_options tools tool_choice parallel_tool_calls temperature top_p ' +
  'max_completion_tokens max_tokens stop seed response_format reasoning_effort metadata user store ' +
  'service_tier verbosity prompt_cache_key safety_identifier'
// The last two are no fields of OpenAI's, but of servers that resemble it.
const assistantFields = 'role! content name refusal audio tool_calls reasoning_content reasoning'

/** Rules of servers that take less than OpenAI. */
export interface ServerRules {
  /** Form of the ids of calls. */
  readonly callId?: RegExp
  readonly hasImages?: boolean
  /** Field that each message of the assistant must have. */
  readonly requiresThinking?: string
  readonly userAfterTools?: boolean
}

/**
 * Lists the faults of a request of Chat Completions.
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
export function completionsProblems(
  body: Wire,
  { callId, hasImages = true, requiresThinking, userAfterTools = true }: ServerRules = {},
): readonly string[] {
  const problems = new Problems()
  problems.fields('body', body, bodyFields)
  problems.unless(wires(body['messages']).length > 0, 'messages: none')
  const calls = new OpenCalls(problems, 40, callId)
  let hasBegun = false
  for (const [at, message] of wires(body['messages']).entries()) {
    const place = `messages[${at}]`
    const role = String(message['role'])
    if (role !== 'tool') calls.other(place)
    const isBehindTools = wires(body['messages'])[at - 1]?.['role'] === 'tool'
    problems.unless(
      userAfterTools || role !== 'user' || !isBehindTools,
      `${place}: user behind tool results`,
    )
    problems.unless(
      requiresThinking === undefined || role !== 'assistant' || requiresThinking in message,
      `${place}: no ${requiresThinking}`,
    )
    problems.unless(
      hasImages || !JSON.stringify(message).includes('"image_url"'),
      `${place}: an image`,
    )
    if (role === 'system' || role === 'developer') {
      problems.unless(!hasBegun, `${place}: ${role} after the conversation has begun`)
      problems.fields(place, message, 'role! content! name')
      checkParts(problems, place, message['content'], [])
    } else if (role === 'user') {
      problems.fields(place, message, 'role! content! name')
      checkParts(problems, place, message['content'], ['image_url', 'input_audio', 'file'])
    } else if (role === 'assistant') {
      checkAssistant(problems, place, message, calls)
    } else if (role === 'tool') {
      problems.fields(place, message, 'role! content! tool_call_id!')
      calls.result(place, message['tool_call_id'])
      checkParts(problems, place, message['content'], [])
    } else {
      problems.unless(false, `${place}: unknown role ${role}`)
    }
    hasBegun ||= role !== 'system' && role !== 'developer'
  }
  calls.other('the end')
  checkTools(problems, body)
  return problems.found
}

function checkParts(
  problems: Problems,
  place: string,
  content: unknown,
  more: readonly string[],
): void {
  if (!Array.isArray(content)) {
    problems.text(`${place}.content`, content)
    return
  }
  problems.unless(content.length > 0, `${place}.content: no part`)
  for (const [at, part] of wires(content).entries()) {
    const partPlace = `${place}.content[${at}]`
    const type = String(part['type'])
    if (type === 'text') {
      problems.fields(partPlace, part, 'type! text!')
      problems.text(partPlace, part['text'])
    } else {
      problems.unless(more.includes(type), `${partPlace}: a part of type ${type}`)
      problems.fields(partPlace, part, `type! ${type}!`)
      if (type === 'image_url') problems.image(partPlace, wire(part['image_url'])['url'])
    }
  }
}

function checkAssistant(problems: Problems, place: string, message: Wire, calls: OpenCalls): void {
  problems.fields(place, message, assistantFields)
  const { content, tool_calls: called, refusal } = message
  if (called !== undefined)
    problems.unless(wires(called).length > 0, `${place}: tool_calls is empty`)
  if (refusal !== undefined && refusal !== null) problems.text(`${place}.refusal`, refusal)
  const isRefusal = wires(content).some(({ type }) => type === 'refusal')
  if (isRefusal) {
    // "One or more of type text, or exactly one of type refusal."
    problems.unless(wires(content).length === 1, `${place}: a refusal part beside other parts`)
    problems.text(`${place}.content[0]`, wires(content)[0]?.['refusal'])
  } else if (content !== null && content !== undefined) {
    checkParts(problems, place, content, [])
  } else {
    problems.unless(called !== undefined, `${place}: neither content nor calls`)
  }
  for (const [at, call] of wires(called).entries()) {
    const callPlace = `${place}.tool_calls[${at}]`
    problems.fields(callPlace, call, 'id! type! function! extra_content')
    problems.unless(call['type'] === 'function', `${callPlace}: type ${String(call['type'])}`)
    const wanted = wire(call['function'])
    problems.fields(callPlace, wanted, 'name! arguments!')
    problems.name(callPlace, wanted['name'], 64)
    problems.jsonObject(callPlace, wanted['arguments'])
    calls.call(callPlace, call['id'])
  }
}

function checkTools(problems: Problems, { tools }: Wire): void {
  for (const [at, tool] of wires(tools).entries()) {
    const place = `tools[${at}]`
    problems.fields(place, tool, 'type! function!')
    const declared = wire(tool['function'])
    problems.fields(place, declared, 'name! description parameters! strict')
    problems.name(place, declared['name'], 64)
    problems.schema(place, declared['parameters'])
  }
}
