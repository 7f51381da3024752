import type { Wire } from './swap-problems.ts'
import { OpenCalls, Problems, wires } from './swap-problems.ts'

const bodyFields =
  'model! input! instructions stream tools tool_choice parallel_tool_calls temperature top_p store ' +
  'include max_output_tokens reasoning text metadata user service_tier previous_response_id ' +
  'conversation truncation prompt_cache_key safety_identifier'

/**
 * Lists the faults of a request of the Responses API.
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
export function responsesProblems(body: Wire): readonly string[] {
  const problems = new Problems()
  problems.fields('body', body, bodyFields)
  if ('instructions' in body) problems.text('instructions', body['instructions'])
  const input = wires(body['input'])
  problems.unless(input.length > 0, 'input: none')
  const calls = new OpenCalls(problems, 64)
  const ids = new Set<unknown>()
  for (const [at, item] of input.entries()) {
    const place = `input[${at}]`
    const { id, role, type = 'message' } = item
    problems.unless(id === undefined || !ids.has(id), `${place}: a second item has its id`)
    ids.add(id)
    if (type === 'function_call_output') {
      problems.fields(place, item, 'type! call_id! output! id status')
      calls.result(place, item['call_id'])
      checkContent(problems, `${place}.output`, item['output'], userParts)
    } else if (type === 'function_call') {
      problems.fields(place, item, 'type! call_id! name! arguments! id status caller')
      checkItemId(problems, place, id, 'fc')
      problems.name(place, item['name'], 64)
      problems.jsonObject(place, item['arguments'])
      calls.call(place, item['call_id'])
    } else if (type === 'custom_tool_call_output') {
      problems.fields(place, item, 'type! call_id! output! id')
      calls.result(place, item['call_id'])
    } else if (type === 'custom_tool_call') {
      problems.fields(place, item, 'type! call_id! name! input! id status')
      calls.call(place, item['call_id'])
    } else {
      // An answer may say something behind its calls.
      if (type === 'message' && role !== 'assistant') calls.other(place)
      if (type === 'message') checkMessage(problems, place, item)
      else if (type === 'reasoning') checkReasoning(problems, place, item, input[at + 1])
      else {
        const prefix = hosted[String(type)]
        const problem = `${place}: an item of type ${String(type)} and role ${String(role)}`
        problems.unless(prefix !== undefined, problem)
        if (prefix !== undefined) checkItemId(problems, place, id, prefix)
      }
    }
  }
  calls.other('the end')
  checkTools(problems, body)
  return problems.found
}

/** Items of tools that the provider runs, or that belong to it, and how their ids begin. */
const hosted: Readonly<Record<string, string>> = {
  web_search_call: 'ws',
  image_generation_call: 'ig',
  file_search_call: 'fs',
  code_interpreter_call: 'ci',
  tool_search_call: 'tsc',
  mcp_list_tools: 'mcpl',
  mcp_call: 'mcp',
  apply_patch_call: 'apc',
}

const userParts: Readonly<Record<string, string>> = {
  input_text: 'type! text!',
  input_image: 'type! image_url detail file_id',
  input_file: 'type! file_id file_url filename file_data',
}
const assistantParts: Readonly<Record<string, string>> = {
  output_text: 'type! text! annotations logprobs',
  refusal: 'type! refusal!',
}

function checkMessage(problems: Problems, place: string, message: Wire): void {
  const { role, id, content } = message
  problems.fields(place, message, 'type id role! status phase content!')
  if (role === 'assistant') {
    checkItemId(problems, place, id, 'msg')
    checkContent(problems, `${place}.content`, content, assistantParts)
  } else {
    const isRole = role === 'user' || role === 'system' || role === 'developer'
    problems.unless(isRole, `${place}: unknown role ${String(role)}`)
    checkContent(problems, `${place}.content`, content, userParts)
  }
}

function checkContent(
  problems: Problems,
  place: string,
  content: unknown,
  known: Readonly<Record<string, string>>,
): void {
  if (!Array.isArray(content)) {
    problems.text(place, content)
    return
  }
  problems.unless(content.length > 0, `${place}: no part`)
  for (const [at, part] of wires(content).entries()) {
    const partPlace = `${place}[${at}]`
    const fields = known[String(part['type'])]
    problems.unless(fields !== undefined, `${partPlace}: a part of type ${String(part['type'])}`)
    if (fields === undefined) continue
    problems.fields(partPlace, part, fields)
    if ('text' in part) problems.text(partPlace, part['text'])
    if ('refusal' in part) problems.text(partPlace, part['refusal'])
    if ('image_url' in part) problems.image(partPlace, part['image_url'])
  }
}

/** OpenAI refuses reasoning "without its required following item", which it knows by its id. */
function checkReasoning(
  problems: Problems,
  place: string,
  item: Wire,
  next: Wire | undefined,
): void {
  problems.fields(place, item, 'type! id! summary! content encrypted_content! status')
  checkItemId(problems, place, item['id'], 'rs')
  problems.text(`${place}.encrypted_content`, item['encrypted_content'])
  problems.unless(typeof next?.['id'] === 'string', `${place}: not followed by the item it led to`)
}

function checkItemId(problems: Problems, place: string, id: unknown, prefix: string): void {
  const isLegal = id === undefined || (typeof id === 'string' && id.startsWith(`${prefix}_`))
  problems.unless(isLegal, `${place}: ${String(id)} is no id of such an item`)
}

function checkTools(problems: Problems, { tools }: Wire): void {
  for (const [at, tool] of wires(tools).entries()) {
    const place = `tools[${at}]`
    problems.fields(place, tool, 'type! name! description parameters! strict')
    problems.unless(tool['type'] === 'function', `${place}: type ${String(tool['type'])}`)
    problems.name(place, tool['name'], 64)
    problems.schema(place, tool['parameters'])
  }
}
