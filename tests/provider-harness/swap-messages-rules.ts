import type { MessagesDialect } from '../../packages/anthropic/src/index.ts'
import { messagesDialects } from '../../packages/anthropic/src/index.ts'
import type { Wire } from './swap-problems.ts'
import { OpenCalls, Problems, wire, wires } from './swap-problems.ts'

const bodyFields =
  'model! max_tokens! messages! system stream tools tool_choice stop_sequences thinking ' +
  'output_config metadata service_tier container cache_control'
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/**
 * Lists the faults of a request of Anthropic's Messages API, for a server with these habits.
 * https://platform.claude.com/docs/en/api/messages/create and, for calls and their results,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls
 */
export function messagesProblems(
  body: Wire,
  { unsignedThinking, requiredThinking, files }: MessagesDialect = messagesDialects.anthropic,
): readonly string[] {
  const problems = new Problems()
  const signs = !unsignedThinking
  problems.fields('body', body, bodyFields)
  problems.unless(Number(body['max_tokens']) > 0, 'max_tokens: not above 0')
  for (const [at, block] of wires(body['system']).entries()) {
    problems.unless(block['type'] === 'text', `system[${at}]: a block of another type`)
    problems.visibleText(`system[${at}]`, block['text'])
  }
  const messages = wires(body['messages'])
  problems.unless(messages[0]?.['role'] === 'user', 'messages[0]: is not of the user')
  const calls = new OpenCalls(problems, Infinity, /^[a-zA-Z0-9_-]+$/)
  for (const [at, message] of messages.entries()) {
    const place = `messages[${at}]`
    const { role, content } = message
    problems.fields(place, message, 'role! content!')
    const isRole = role === 'user' || role === 'assistant' || role === 'system'
    problems.unless(isRole, `${place}: the role ${String(role)}`)
    problems.unless(role !== messages[at - 1]?.['role'], `${place}: two turns of one role in a row`)
    if (typeof content === 'string') problems.visibleText(place, content)
    else problems.unless(wires(content).length > 0, `${place}: no block`)
    // Results come first in the message behind the calls.
    if (wires(content)[0]?.['type'] !== 'tool_result') calls.other(place)
    for (const [index, block] of wires(content).entries()) {
      checkBlock(problems, `${place}.content[${index}]`, block, { role, calls, signs })
    }
    problems.unless(
      files || !JSON.stringify(content).includes('"type":"image"'),
      `${place}: an image`,
    )
    const thinks = wires(content).some(({ type }) => type === 'thinking')
    problems.unless(!requiredThinking || role !== 'assistant' || thinks, `${place}: no thinking`)
    if (role === 'assistant') checkEnd(problems, place, message, at === messages.length - 1)
  }
  calls.other('the end')
  checkTools(problems, body)
  return problems.found
}

interface BlockPlace {
  readonly role: unknown
  readonly calls: OpenCalls
  readonly signs: boolean
}

function checkBlock(
  problems: Problems,
  place: string,
  block: Wire,
  { role, calls, signs }: BlockPlace,
): void {
  const type = String(block['type'])
  const isOfAssistant = role === 'assistant'
  if (type === 'tool_result') {
    problems.unless(!isOfAssistant, `${place}: a result that the assistant gives`)
    problems.fields(place, block, 'type! tool_use_id! content is_error cache_control')
    calls.result(place, block['tool_use_id'])
    const { content } = block
    if (typeof content === 'string') problems.visibleText(place, content)
    for (const part of wires(content)) checkShown(problems, place, part)
  } else if (type === 'tool_use') {
    problems.unless(isOfAssistant, `${place}: a call of the user`)
    problems.fields(place, block, 'type! id! name! input! caller cache_control')
    problems.name(place, block['name'], 128)
    problems.jsonObject(place, JSON.stringify(block['input']))
    calls.call(place, block['id'])
  } else if (type === 'thinking' || type === 'redacted_thinking') {
    problems.unless(isOfAssistant, `${place}: a thought of the user`)
    const ofThinking = signs ? 'type! thinking! signature!' : 'type! thinking!'
    problems.fields(place, block, type === 'thinking' ? ofThinking : 'type! data!')
    if (!signs) problems.unless(type === 'thinking', `${place}: a thought that is sealed`)
    else if (type === 'thinking') problems.visibleText(`${place}.signature`, block['signature'])
    else problems.visibleText(`${place}.data`, block['data'])
  } else if (/^(?:server_tool_use|mcp_tool_use|\w+_tool_result|compaction)$/.test(type)) {
    problems.unless(isOfAssistant, `${place}: hosted, but of the user`)
  } else {
    if (!isOfAssistant) calls.other(place)
    problems.unless(!isOfAssistant || type === 'text', `${place}: a ${type} of the assistant`)
    checkShown(problems, place, block)
  }
}

/** Blocks that a user, or the result of a tool, may show. */
function checkShown(problems: Problems, place: string, block: Wire): void {
  if (block['type'] === 'text') {
    problems.fields(place, block, 'type! text! citations cache_control')
    problems.visibleText(place, block['text'])
    return
  }
  problems.unless(block['type'] === 'image', `${place}: a block of type ${String(block['type'])}`)
  problems.fields(place, block, 'type! source! cache_control')
  const { type, url, media_type: mediaType, data } = wire(block['source'])
  if (type === 'url') problems.image(place, url)
  else {
    problems.unless(type === 'base64' && imageTypes.has(String(mediaType)), `${place}: no image`)
    problems.unless(/^[\w+/]+=*$/.test(String(data)), `${place}: no base64`)
  }
}

function checkEnd(problems: Problems, place: string, { content }: Wire, isLast: boolean): void {
  const { type, text } = wires(content).at(-1) ?? {}
  const isThought = type === 'thinking' || type === 'redacted_thinking'
  problems.unless(!isThought, `${place}: ends with a thought`)
  if (isLast) problems.unless(!/\s$/.test(String(text)), `${place}: ends with white space`)
}

function checkTools(problems: Problems, { tools }: Wire): void {
  for (const [at, tool] of wires(tools).entries()) {
    const place = `tools[${at}]`
    problems.fields(place, tool, 'type name! description input_schema! strict cache_control')
    const isCustom = tool['type'] === undefined || tool['type'] === 'custom'
    problems.unless(isCustom, `${place}: type ${String(tool['type'])}`)
    problems.name(place, tool['name'], 128)
    problems.schema(place, tool['input_schema'])
  }
}
