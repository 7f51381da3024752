import type { ChatDialect } from '../../packages/openai/src/index.ts'
import { chatDialects } from '../../packages/openai/src/index.ts'
import type { Wire } from './swap-problems.ts'
import { OpenCalls, Problems, wire, wires } from './swap-problems.ts'

const bodyFields =
  'model! messages! stream stream_options tools tool_choice parallel_tool_calls temperature top_p ' +
  'max_completion_tokens max_tokens stop seed response_format reasoning_effort metadata user store ' +
  'service_tier verbosity prompt_cache_key safety_identifier'
const assistantFields = 'role! content name audio tool_calls'

/**
 * Lists the faults of a request of Chat Completions, for a server with these habits.
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
export function completionsProblems(
  body: Wire,
  dialect: ChatDialect = chatDialects.compatible,
): readonly string[] {
  const { callIds, images, requiredThinkingField: required, userAfterTools } = dialect
  const problems = new Problems()
  problems.fields('body', body, bodyFields)
  problems.unless(wires(body['messages']).length > 0, 'messages: none')
  const calls = new OpenCalls(problems, callIds.maxLength, idPattern(dialect))
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
      required === undefined || role !== 'assistant' || required in message,
      `${place}: no ${required}`,
    )
    const sentImages = JSON.stringify(message).match(/"image_url":\{"url":"(?:data|http)/g) ?? []
    problems.unless(images !== 'none' || sentImages.length === 0, `${place}: an image`)
    problems.unless(
      images === 'any' || sentImages.every((image) => image.endsWith('data')),
      `${place}: an image behind an address`,
    )
    if (role === 'system' || role === 'developer') {
      problems.unless(!hasBegun, `${place}: ${role} after the conversation has begun`)
      problems.fields(place, message, 'role! content! name')
      checkParts(problems, place, message['content'], [])
    } else if (role === 'user') {
      problems.fields(place, message, 'role! content! name')
      checkParts(problems, place, message['content'], ['image_url', 'input_audio', 'file'])
    } else if (role === 'assistant') {
      checkAssistant(problems, place, message, { calls, dialect })
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
  problems.unless(
    dialect.jsonObject || wire(body['response_format'])['type'] !== 'json_object',
    'response_format: json_object',
  )
  checkTools(problems, body)
  return problems.found
}

function idPattern({ callIds: { maxLength, isExact } }: ChatDialect): RegExp | undefined {
  return isExact === true ? new RegExp(`^[a-zA-Z0-9]{${maxLength}}$`) : undefined
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

function checkAssistant(
  problems: Problems,
  place: string,
  message: Wire,
  { calls, dialect }: { readonly calls: OpenCalls; readonly dialect: ChatDialect },
): void {
  // No fields of OpenAI's, but of servers that resemble it.
  const thinking = dialect.thinking === 'never' ? '' : ' reasoning_content reasoning'
  const refused = dialect.refusals ? ' refusal' : ''
  problems.fields(place, message, `${assistantFields}${thinking}${refused}`)
  const { content, tool_calls: called, refusal } = message
  if (called !== undefined)
    problems.unless(wires(called).length > 0, `${place}: tool_calls is empty`)
  if (refusal !== undefined && refusal !== null) problems.text(`${place}.refusal`, refusal)
  const isRefusal = wires(content).some(({ type }) => type === 'refusal')
  problems.unless(!isRefusal || dialect.refusals, `${place}: a refusal that is no text`)
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
    const isCustom = call['type'] === 'custom'
    const [kind, given] = isCustom ? ['custom', 'input'] : ['function', 'arguments']
    problems.fields(callPlace, call, `id! type! ${kind}! extra_content`)
    problems.unless(call['type'] === kind, `${callPlace}: type ${String(call['type'])}`)
    const wanted = wire(call[kind])
    problems.fields(callPlace, wanted, `name! ${given}!`)
    problems.name(callPlace, wanted['name'], 64)
    if (!isCustom) problems.jsonObject(callPlace, wanted['arguments'])
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
