import { listOf, recordOf, stringOf } from '../wire/wire.ts'

const deepest = 4

/**
 * The words of an error report in the shapes that servers use: a text, `{ message }`, `{ msg }`,
 * `{ detail }`, `{ error }`, and lists of these, as FastAPI, Mistral and Google send them. The input
 * that a report quotes beside its words is not read.
 */
export function reportWords(report: unknown, depth = 0): string | undefined {
  if (typeof report === 'string') return stringOf(report.trim())
  if (depth === deepest) return undefined
  if (Array.isArray(report)) {
    const all = report.slice(0, 8).map((each) => reportWords(each, depth + 1))
    return stringOf(all.filter((words) => words !== undefined).join('; '))
  }
  const { message, msg, detail, error, loc } = recordOf(report)
  for (const part of [message, msg, detail, error]) {
    const words = part === undefined ? undefined : reportWords(part, depth + 1)
    if (words !== undefined) return `${placeOf(loc)}${words}`
  }
  return undefined
}

/** Returns the place of the fault in the request, as FastAPI gives it, such as `body.messages.0: `. */
function placeOf(loc: unknown): string {
  const steps = listOf(loc).filter((step) => /^[\w-]{1,32}$/.test(String(step)))
  return steps.length > 0 ? `${steps.slice(0, 8).join('.')}: ` : ''
}

/**
 * Words by which servers say that the input is longer than the context of the model, where no code
 * does: OpenAI, vLLM, llama.cpp, Mistral, xAI, Google, Bedrock, TGI, Together, LM Studio (2026-11).
 */
export const tooLongWords: RegExp =
  /context[ _](length|window|limit|size)|context the overflows|maximum (context|prompt) length|prompt is too long|input is too long|input token count|too many (input )?tokens|`inputs`.{0,40}must (be|have)/i
