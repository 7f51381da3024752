import type { Wire } from './swap-problems.ts'
import { Problems, wire, wires } from './swap-problems.ts'

const bodyFields =
  'contents! systemInstruction generationConfig tools toolConfig safetySettings cachedContent labels'
const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/**
 * Finds the faults of a request of Gemini's `generateContent`.
 * https://ai.google.dev/api/generate-content and, for calls and their results,
 * https://ai.google.dev/gemini-api/docs/function-calling
 * Without `hasCallIds`, those of Vertex AI, which knows no ids of calls.
 * With `isModern`, those of Gemini 3 and newer: https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export function googleProblems(
  body: Wire,
  {
    isModern = false,
    hasCallIds = true,
  }: { readonly isModern?: boolean; readonly hasCallIds?: boolean } = {},
): readonly string[] {
  const problems = new Problems()
  problems.fields('body', body, bodyFields)
  for (const [at, part] of wires(wire(body['systemInstruction'])['parts']).entries()) {
    problems.visibleText(`systemInstruction[${at}]`, part['text'])
  }
  const contents = wires(body['contents'])
  problems.unless(contents[0]?.['role'] === 'user', 'contents[0]: is not of the user')
  let open: readonly string[] = []
  for (const [at, content] of contents.entries()) {
    const place = `contents[${at}]`
    const { role } = content
    problems.fields(place, content, 'role! parts!')
    problems.unless(role === 'user' || role === 'model', `${place}: the role ${String(role)}`)
    const parts = wires(content['parts'])
    problems.unless(parts.length > 0, `${place}: no part`)
    const answered = parts.flatMap((part) => names(part['functionResponse']))
    // As many answers as calls, in the turn right behind them.
    const isAnswered = answered.join() === open.join()
    problems.unless(
      isAnswered,
      `${place}: answers to ${answered.join()} for calls of ${open.join()}`,
    )
    open = parts.flatMap((part) => names(part['functionCall']))
    const first = parts.find((part) => part['functionCall'] !== undefined)
    const isSigned = first === undefined || first['thoughtSignature'] !== undefined
    problems.unless(!isModern || isSigned, `${place}: the first call has no signature`)
    problems.unless(open.length === 0 || role === 'model', `${place}: a call of the user`)
    for (const [index, part] of parts.entries()) {
      checkPart(problems, `${place}.parts[${index}]`, part, role, hasCallIds ? 'id ' : '')
    }
  }
  problems.unless(open.length === 0, `the end: no answers to ${open.join()}`)
  problems.unless(contents.at(-1)?.['role'] === 'user', 'the end: is not of the user')
  for (const [at, tool] of wires(body['tools']).entries()) {
    for (const declared of wires(tool['functionDeclarations'])) {
      problems.name(`tools[${at}]`, declared['name'], 64)
    }
  }
  return problems.found
}

function names(call: unknown): readonly string[] {
  return call === undefined ? [] : [String(wire(call)['name'])]
}

function checkPart(problems: Problems, place: string, part: Wire, role: unknown, id: string): void {
  problems.fields(
    place,
    part,
    'text thought thoughtSignature functionCall functionResponse inlineData fileData videoMetadata',
  )
  const { text, thought, functionCall, functionResponse, inlineData } = part
  if (text !== undefined && part['thoughtSignature'] === undefined) problems.text(place, text)
  problems.unless(thought !== true || role === 'model', `${place}: a thought of the user`)
  if (functionCall !== undefined) {
    problems.fields(place, wire(functionCall), `${id}name! args!`)
    problems.name(place, wire(functionCall)['name'], 64)
    problems.jsonObject(place, JSON.stringify(wire(functionCall)['args']))
  }
  if (functionResponse !== undefined) {
    problems.fields(place, wire(functionResponse), `${id}name! response! parts`)
    problems.jsonObject(place, JSON.stringify(wire(functionResponse)['response']))
  }
  if (inlineData !== undefined) {
    const { mimeType, data } = wire(inlineData)
    problems.unless(imageTypes.has(String(mimeType)), `${place}: no image`)
    problems.unless(/^[\w+/]+=*$/.test(String(data)), `${place}: no base64`)
  }
}
