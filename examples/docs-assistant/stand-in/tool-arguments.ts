import { listOf, recordOf, stringOf } from '@lamella/transport'
import type { OfferedTool } from '@lamella/testing/model-server'
import { contentWords, stem, stemsOf } from './question-words.ts'

type JsonObject = Readonly<Record<string, unknown>>

const filePattern = /[\w./-]*\w\.[a-z]{2,5}\b/giu

/** Names of files and paths in a text, each once. */
export function fileNames(text: string): string[] {
  const plain = text.replace(/https?:\/\/\S+/gu, ' ')
  return [...new Set(plain.match(filePattern) ?? [])].filter((name) => !/^\d/u.test(name))
}

/** The required parameter of a tool, or its first. */
export function mainParameter({ parameters }: OfferedTool): string | undefined {
  const properties = Object.entries(recordOf(parameters['properties']))
  const required = listOf(parameters['required'])
  const [name] =
    properties.find(([key, schema]) => required.includes(key) && typeOf(schema) === 'string') ??
    properties.find(([key]) => required.includes(key)) ??
    properties[0] ??
    []
  return name
}

/**
 * Returns arguments for a tool, from the words of a question. Several if the question names several
 * values of the kind that the tool takes.
 */
export function argumentsFor(
  tool: OfferedTool,
  question: string,
  parallel: boolean,
): readonly JsonObject[] {
  const first = objectFor(tool.parameters, question)
  const main = mainParameter(tool)
  if (!parallel || main === undefined || typeof first[main] !== 'string') return [first]
  const schema = recordOf(recordOf(tool.parameters['properties'])[main])
  if (listOf(schema['enum']).length > 0) return [first]
  const values = candidates(main, question)
  return values.length < 2 ? [first] : values.map((value) => ({ ...first, [main]: value }))
}

/** Returns the parsed text, or `undefined` if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The numbers in a text. */
export function numbersIn(text: string): number[] {
  return (text.match(/(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-])/gu) ?? []).map(Number)
}

function objectFor(schema: JsonObject, question: string): JsonObject {
  const required = listOf(schema['required'])
  const numbers = numbersIn(question)
  const made: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(recordOf(schema['properties']))) {
    const property = recordOf(entry)
    const chosen = chooseFromEnum(property, question)
    if (required.includes(name)) made[name] = chosen ?? valueFor(name, property, question, numbers)
    else if (chosen !== undefined) made[name] = chosen
  }
  return made
}

function valueFor(name: string, schema: JsonObject, question: string, numbers: number[]): unknown {
  switch (typeOf(schema)) {
    case 'number':
    case 'integer':
      return numbers.shift() ?? 0
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array':
      return [valueFor(name, recordOf(schema['items']), question, numbers)]
    case 'object':
      return objectFor(schema, question)
    default:
      return listOf(schema['enum'])[0] ?? candidates(name, question)[0] ?? topic(question)
  }
}

/** Returns the subject of a question, in its own words. */
export function topic(question: string): string {
  const words = (question.match(/[\p{L}\p{N}][\p{L}\p{N}'_-]*/gu) ?? []).filter(
    (word) => contentWords(word).length > 0,
  )
  return [...new Set(words)].join(' ') || question.trim()
}

function chooseFromEnum(schema: JsonObject, question: string): unknown {
  const asked = stemsOf(question)
  return listOf(schema['enum']).find((value) =>
    contentWords(stringOf(value) ?? '').some((word) => asked.has(stem(word))),
  )
}

function typeOf(schema: unknown): string {
  const { type } = recordOf(schema) as { type?: unknown }
  return stringOf(listOf(type).find((entry) => entry !== 'null') ?? type) ?? 'string'
}

function candidates(name: string, question: string): readonly string[] {
  const quoted = matches(/["“`]([^"”`]+)["”`]/gu, question)
  if (quoted.length > 0) return quoted
  if (/path|file|document/iu.test(name)) return fileNames(question)
  if (/mail/iu.test(name)) return matches(/([\w.+-]+@[\w-]+\.[\w.]+)/gu, question)
  if (/ur[il]|link/iu.test(name)) return matches(/(https?:\/\/[^\s,)]+)/gu, question)
  if (/date|day/iu.test(name)) return matches(/(\d{4}-\d{2}-\d{2})/gu, question)
  if (/id$|number|code|isbn|key/iu.test(name)) {
    const withDigits = matches(/(?<!\S)([\w-]*\d[\w-]*)/gu, question)
    if (withDigits.length > 0) return withDigits
  }
  if (/query|search|question|text|prompt|topic|term/iu.test(name)) return [topic(question)]
  return matches(
    /(?<!^)(?<![.!?]\s)(?<![\p{L}\d])((?!I\b)\p{Lu}[\p{L}\d-]+(?:\s\p{Lu}[\p{L}\d-]+)*)/gu,
    question.trim(),
  )
}

function matches(pattern: RegExp, text: string): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''))]
}
