import type { Wire } from './swap-problems.ts'
import { OpenCalls, Problems, wire, wires } from './swap-problems.ts'

const bodyFields =
  'system messages! inferenceConfig toolConfig additionalModelRequestFields ' +
  'additionalModelResponseFieldPaths guardrailConfig performanceConfig requestMetadata'
const imageFormats = new Set(['png', 'jpeg', 'gif', 'webp'])

/**
 * Finds the faults of a request of Bedrock's Converse API.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function converseProblems(body: Wire): readonly string[] {
  const problems = new Problems()
  problems.fields('body', body, bodyFields)
  for (const [at, block] of wires(body['system']).entries()) {
    problems.visibleText(`system[${at}]`, block['text'])
  }
  const messages = wires(body['messages'])
  problems.unless(messages[0]?.['role'] === 'user', 'messages[0]: is not of the user')
  const calls = new OpenCalls(problems, 64, /^[a-zA-Z0-9_-]+$/)
  for (const [at, message] of messages.entries()) {
    const place = `messages[${at}]`
    const { role } = message
    problems.fields(place, message, 'role! content!')
    problems.unless(role === 'user' || role === 'assistant', `${place}: the role ${String(role)}`)
    problems.unless(role !== messages[at - 1]?.['role'], `${place}: two turns of one role in a row`)
    const content = wires(message['content'])
    problems.unless(content.length > 0, `${place}: no block`)
    if (content[0]?.['toolResult'] === undefined) calls.other(place)
    for (const [index, block] of content.entries()) {
      checkBlock(problems, `${place}.content[${index}]`, block, role, calls)
    }
  }
  calls.other('the end')
  for (const [at, tool] of wires(wire(body['toolConfig'])['tools']).entries()) {
    const declared = wire(tool['toolSpec'])
    problems.name(`tools[${at}]`, declared['name'], 64)
    problems.schema(`tools[${at}]`, wire(declared['inputSchema'])['json'])
  }
  return problems.found
}

function checkBlock(
  problems: Problems,
  place: string,
  block: Wire,
  role: unknown,
  calls: OpenCalls,
): void {
  const kinds = Object.keys(block)
  problems.unless(kinds.length === 1, `${place}: a block of ${kinds.join()}`)
  const { text, image, toolUse, toolResult, reasoningContent } = block
  const isOfAssistant = role === 'assistant'
  if (toolUse !== undefined) {
    const { toolUseId, name, input } = wire(toolUse)
    problems.fields(place, wire(toolUse), 'toolUseId! name! input!')
    problems.unless(isOfAssistant, `${place}: a call of the user`)
    problems.name(place, name, 64)
    problems.jsonObject(place, JSON.stringify(input))
    calls.call(place, toolUseId)
  } else if (toolResult !== undefined) {
    problems.fields(place, wire(toolResult), 'toolUseId! content! status')
    problems.unless(!isOfAssistant, `${place}: a result that the assistant gives`)
    calls.result(place, wire(toolResult)['toolUseId'])
  } else if (reasoningContent !== undefined) {
    problems.unless(isOfAssistant, `${place}: a thought of the user`)
    const { text: thought, signature } = wire(wire(reasoningContent)['reasoningText'])
    problems.visibleText(place, thought)
    problems.visibleText(place, signature)
  } else if (image !== undefined) {
    if (!isOfAssistant) calls.other(place)
    const { format, source } = wire(image)
    problems.unless(imageFormats.has(String(format)), `${place}: an image of ${String(format)}`)
    problems.unless(/^[\w+/]+=*$/.test(String(wire(source)['bytes'])), `${place}: no base64`)
  } else {
    if (!isOfAssistant) calls.other(place)
    problems.visibleText(place, text)
  }
}
