import { bestPassage, shorten } from './best-passage.ts'
import { recordOf, stringOf } from '@lamella/transport'
import type {
  ModelAnswer,
  ModelConversation,
  ModelTurn,
  OfferedTool,
} from '@lamella/testing/model-server'
import { contentWords, stem, stemsOf } from './question-words.ts'
import { fileNames, parseJson, topic } from './tool-arguments.ts'
import type { ToolStep } from './tool-choice.ts'
import { isEmptyResult, isFailedResult, isSmallTalk, kindOf, nextCalls } from './tool-choice.ts'

const whoIAm =
  'I am lamella-stand-in, a deterministic stand-in for a language model. I am no language model: ' +
  'I match the words of a question with the tools I am offered and quote what they return.'

/**
 * Answers as a small assistant would: it calls the tool that fits the question, reads the results of
 * a search, quotes from them, and admits gaps. The same conversation always gets the same answer.
 */
export function answer(conversation: ModelConversation): ModelAnswer {
  const { question, steps } = sinceQuestion(conversation.turns)
  if (asksWho(question) && conversation.toolChoice !== 'required') {
    return { text: whoIAm }
  }
  const calls = nextCalls(conversation, question, steps)
  if (calls.length > 0) return { calls: conversation.parallelCalls ? calls : calls.slice(0, 1) }
  return { text: textAnswer(conversation, question, steps) }
}

function asksWho(question: string): boolean {
  return /\b(?:who|what) are you\b|\b(?:what|which) (?:language )?model\b|\bare you (?:an? )?(?:\w+ )?(?:model|ai|human|bot|llm|real|chatgpt|gpt)\b/iu.test(
    question,
  )
}

function sinceQuestion(turns: readonly ModelTurn[]): {
  question: string
  steps: readonly ToolStep[]
} {
  const asked = turns.findLastIndex(({ role }) => role === 'user')
  const after = turns.slice(asked + 1)
  const results = new Map(
    after.flatMap(({ callId, text }) => (callId === undefined ? [] : [[callId, text] as const])),
  )
  const steps = after.flatMap(({ calls }) =>
    calls.map((call) => ({ call, result: results.get(call.id) ?? '' })),
  )
  return { question: turns[asked]?.text ?? '', steps }
}

function textAnswer(
  conversation: ModelConversation,
  question: string,
  steps: readonly ToolStep[],
): string {
  const tools = new Map(conversation.tools.map((tool) => [tool.name, tool]))
  const kind = ({ call }: ToolStep): ReturnType<typeof kindOf> =>
    kindOf(tools.get(call.name) ?? nameOnly(call.name))

  if (steps.length === 0) return withoutTools(conversation, question)
  const reads = steps.filter((step) => kind(step) === 'read')
  if (reads.length > 0) return quote(reads, question)
  const search = steps.find((step) => kind(step) === 'search')
  if (search !== undefined) return fromSearch(search, question)
  const list = steps.find((step) => kind(step) === 'list')
  if (list !== undefined) return fromList(list, question)
  return steps.map(fromTool).join('\n')
}

function withoutTools({ turns, tools }: ModelConversation, question: string): string {
  const names = tools.map(({ name }) => name).join(', ')
  if (isSmallTalk(question)) {
    const can = names === '' ? 'I have no tools.' : `I can call: ${names}.`
    return `Hello. I am a deterministic stand-in for a language model. ${can}`
  }
  const said = earlierWords(turns, question)
  if (said !== undefined) return `Earlier you said: "${shorten(said)}"`
  const why = names === '' ? 'no tools to look it up' : `no use here for my tools (${names})`
  return (
    'I cannot answer that: I am a deterministic stand-in for a language model, ' +
    `with no knowledge of my own and ${why}. You asked: "${shorten(question)}"`
  )
}

/** Returns an earlier message of the user that is related to the question. */
function earlierWords(turns: readonly ModelTurn[], question: string): string | undefined {
  const said = turns.filter(({ role }) => role === 'user').slice(0, -1)
  if (/\b(?:did i|have i|i just|my (?:last|previous|first))\b/iu.test(question)) {
    return (/\bfirst\b/iu.test(question) ? said[0] : said.at(-1))?.text
  }
  const asked = contentWords(question).map(stem)
  return said.findLast(({ text }) => {
    const stems = stemsOf(text)
    return asked.some((word) => stems.has(word)) && !text.trim().endsWith('?')
  })?.text
}

function quote(reads: readonly ToolStep[], question: string): string {
  const about = fileNames(question).reduce((text, name) => text.replace(name, ''), question)
  const found = reads
    .filter(({ result }) => !isFailedResult(result) && !isEmptyResult(result))
    .map((step) => ({ file: readName(step), ...bestPassage(documentOf(step.result), about) }))
    .toSorted((left, right) => right.score - left.score)
  const [best] = found
  if (best === undefined) {
    return `I found nothing about ${topic(question)}: ${reads.map(readName).join(', ')} could not be read.`
  }
  if (best.score > 0) return `According to ${best.file}: "${best.text}"`
  if (fileNames(question).includes(best.file)) {
    const { result } = reads.find((step) => readName(step) === best.file)!
    return `${best.file} begins: "${shorten(documentOf(result).trim())}"`
  }
  return `I found nothing about ${topic(question)}. I looked in ${found.map(({ file }) => file).join(', ')}.`
}

function fromSearch({ call, result }: ToolStep, question: string): string {
  if (isEmptyResult(result)) {
    return `I found nothing about ${topic(question)}: ${call.name} returned no results.`
  }
  if (isFailedResult(result)) return failed(call.name, result)
  const { text, score } = bestPassage(readable(result), question)
  const [file] = fileNames(result)
  if (score === 0) return `I found nothing about ${topic(question)} in the results of ${call.name}.`
  return `According to ${file ?? call.name}: "${text}"`
}

function fromList({ call, result }: ToolStep, question: string): string {
  if (isEmptyResult(result)) return `There are none: ${call.name} returned an empty list.`
  if (isFailedResult(result)) return failed(call.name, result)
  const names = fileNames(result)
  if (!/\b(?:files?|docs|documents?|pages?|list)\b/iu.test(question)) {
    return `I found nothing about ${topic(question)} among ${names.length} files.`
  }
  return names.length > 0
    ? `There are ${names.length}: ${names.join(', ')}.`
    : `${call.name} says: ${shorten(readable(result))}`
}

function fromTool({ call, result }: ToolStep): string {
  if (isFailedResult(result)) return failed(call.name, result)
  if (isEmptyResult(result)) return `${call.name} returned nothing.`
  return `${call.name} says: ${shorten(readable(result))}`
}

function failed(name: string, result: string): string {
  return `I could not find out: ${name} failed (${shorten(result.trim())}).`
}

function readName({ call, result }: ToolStep): string {
  const given = Object.values(recordOf(parseJson(call.arguments))).find(
    (value) => typeof value === 'string',
  )
  return stringOf(given) ?? fileNames(result)[0] ?? call.name
}

/** Text of a document that the tool wrapped in JSON. */
function documentOf(result: string): string {
  const parsed = parseJson(result)
  if (typeof parsed === 'string') return parsed
  const { content, text, body } = recordOf(parsed)
  return stringOf(content) ?? stringOf(text) ?? stringOf(body) ?? readable(result)
}

/** Converts JSON to words: `city: Rome, temperature: 21`. Other text is unchanged. */
function readable(result: string): string {
  const parsed = parseJson(result)
  if (typeof parsed !== 'object' || parsed === null) return result.trim()
  return Array.isArray(parsed) ? parsed.map(inWords).join('\n\n') : inWords(parsed)
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(inWords).join('; ')
  if (typeof value !== 'object' || value === null) return String(value)
  return Object.entries(value)
    .map(([key, entry]) => `${key}: ${inWords(entry)}`)
    .join(', ')
}

function nameOnly(name: string): OfferedTool {
  return { name, description: '', parameters: {} }
}
