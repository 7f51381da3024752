import { listOf, recordOf } from '@lamella/transport'
import type { ModelCall, ModelConversation, OfferedTool } from '@lamella/testing/model-server'
import { contentWords, stem, stemsOf, wordsOf } from './question-words.ts'
import {
  argumentsFor,
  fileNames,
  mainParameter,
  numbersIn,
  parseJson,
  topic,
} from './tool-arguments.ts'

/** A call made since the question, and its result. */
export interface ToolStep {
  readonly call: ModelCall
  readonly result: string
}

const maxReads = 3

/** Returns the next calls of the stand-in, or none if it has all it can get. */
export function nextCalls(
  conversation: ModelConversation,
  question: string,
  steps: readonly ToolStep[],
): readonly ModelCall[] {
  const { tools, toolChoice } = conversation
  if (tools.length === 0 || toolChoice === 'none') return []
  if (typeof toolChoice === 'object') {
    return callsOf(tools.find(({ name }) => name === toolChoice.name)!, question, conversation)
  }
  const calls =
    steps.length === 0 ? firstCalls(conversation, question) : read(tools, question, steps)
  if (calls.length > 0 || toolChoice !== 'required') return calls
  return callsOf(bestTool(tools, question)?.tool ?? tools[0]!, question, conversation)
}

/** Returns true for a result without content. */
export function isEmptyResult(result: string): boolean {
  return (
    /^\s*(?:\[\]|\{\}|null|""|0)?\s*$/u.test(result) ||
    /\b(?:no|zero|0) (?:\w+ )?(?:results?|matches|match|hits?|files?|documents?)\b|nothing (?:was )?found|"?(?:results|hits|matches|files)"?\s*:\s*\[\s*\]/iu.test(
      result.slice(0, 200),
    )
  )
}

/** Returns true for a result that reports a failure of the tool. */
export function isFailedResult(result: string): boolean {
  return /^\W*(?:error|failed|the tool .{0,80}failed)\b|\b(?:not found|no such file|denied|rejected|timed out)\b/iu.test(
    result.slice(0, 160),
  )
}

/** Guesses the purpose of a tool from its name. */
export function kindOf({ name }: OfferedTool): 'list' | 'search' | 'read' | 'other' {
  const words = wordsOf(name)
  const has = (...known: string[]): boolean => words.some((word) => known.includes(word))
  const things = has('file', 'files', 'doc', 'docs', 'document', 'documents', 'page', 'pages')
  if (has('search', 'find', 'query', 'grep', 'lookup')) return 'search'
  if (things && has('list', 'ls', 'index', 'enumerate')) return 'list'
  if (things && has('read', 'open', 'get', 'fetch', 'load', 'show', 'cat')) return 'read'
  return 'other'
}

function firstCalls(conversation: ModelConversation, question: string): readonly ModelCall[] {
  const { tools } = conversation
  const ofKind = (kind: string): OfferedTool | undefined =>
    tools.find((tool) => kindOf(tool) === kind)
  if (contentWords(question).length === 0 || isSmallTalk(question)) return []

  const reader = ofKind('read')
  const [named] = fileNames(question)
  if (reader !== undefined && named !== undefined) return [callTo(reader, named)]

  const lister = ofKind('list')
  const asksForList =
    /\b(?:list|which|what|show|all)\b.*\b(?:files?|docs|documents?|pages?)\b/iu.test(question)
  if (lister !== undefined && asksForList) return callsOf(lister, question, conversation)

  const best = bestTool(
    tools.filter((tool) => kindOf(tool) === 'other'),
    question,
  )
  if (best !== undefined && best.score >= 3) return callsOf(best.tool, question, conversation)

  const searcher = ofKind('search')
  if (searcher !== undefined) return [callTo(searcher, topic(question))]
  if (lister !== undefined && reader !== undefined) return callsOf(lister, question, conversation)
  return best !== undefined && best.score >= 2 ? callsOf(best.tool, question, conversation) : []
}

/** After a search or a list: reads the best file it named, then the next, until one has content. */
function read(
  tools: readonly OfferedTool[],
  question: string,
  steps: readonly ToolStep[],
): readonly ModelCall[] {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const kindOfStep = ({ call }: ToolStep): string => {
    const tool = byName.get(call.name)
    return tool === undefined ? 'other' : kindOf(tool)
  }
  const reader = tools.find((tool) => kindOf(tool) === 'read')
  const source = steps.find((step) => ['search', 'list'].includes(kindOfStep(step)))
  if (reader === undefined || source === undefined || isEmptyResult(source.result)) return []
  if (
    kindOfStep(source) === 'list' &&
    /\bfiles\b|\bdocs\b|\bdocuments\b|\bpages\b/iu.test(question)
  ) {
    return []
  }

  const reads = steps.filter((step) => kindOfStep(step) === 'read')
  const last = reads.at(-1)
  const asked = contentWords(question).map(stem)
  const says = last !== undefined && asked.some((word) => stemsOf(last.result).has(word))
  if (reads.length >= maxReads || (says && !isFailedResult(last.result))) return []

  const hits = namesIn(source.result, mainParameter(reader))
  const ranked = kindOfStep(source) === 'list' ? rankByName(hits, asked) : hits
  const done = new Set(reads.map(({ call }) => call.arguments))
  const next = ranked.map((hit) => callTo(reader, hit)).find((call) => !done.has(call.arguments))
  return next === undefined ? [] : [next]
}

/** Names in a result: values of typical keys in JSON, file names in text. */
function namesIn(result: string, parameter: string | undefined): string[] {
  const found = new Map<string, string[]>()
  const visit = (value: unknown, key: string): void => {
    if (typeof value === 'string') found.set(key, [...(found.get(key) ?? []), value])
    else if (Array.isArray(value)) for (const entry of value) visit(entry, key)
    else for (const [inner, entry] of Object.entries(recordOf(value))) visit(entry, inner)
  }
  visit(parseJson(result), '')
  const keys = [
    parameter ?? 'path',
    'path',
    'file',
    'filename',
    'uri',
    'url',
    'id',
    'name',
    'files',
    '',
  ]
  const named = keys.map((key) => found.get(key)).find((values) => values !== undefined)
  return [...new Set(named ?? fileNames(result))]
}

function rankByName(names: readonly string[], asked: readonly string[]): string[] {
  const score = (name: string): number => {
    const stems = stemsOf(name)
    return asked.filter((word) => stems.has(word)).length
  }
  return names.filter((name) => score(name) > 0).toSorted((a, b) => score(b) - score(a))
}

function bestTool(
  tools: readonly OfferedTool[],
  question: string,
): { readonly tool: OfferedTool; readonly score: number } | undefined {
  const asked = contentWords(question).map(stem)
  const count = (text: string): number => {
    const stems = stemsOf(text)
    return asked.filter((word) => stems.has(word)).length
  }
  let best: { tool: OfferedTool; score: number } | undefined
  for (const tool of tools) {
    const { name, description, parameters } = tool
    const required = listOf(parameters['required'])
    const properties = recordOf(parameters['properties'])
    const allNumbers = required.every((key) =>
      ['number', 'integer'].includes(String(recordOf(properties[String(key)])['type'])),
    )
    const numbersFit =
      required.length > 0 && allNumbers && numbersIn(question).length === required.length
    const score =
      3 * count(name) +
      count(description) +
      count(JSON.stringify(properties)) +
      (numbersFit ? 3 : 0)
    if (score > (best?.score ?? 0)) best = { tool, score }
  }
  return best
}

function callsOf(
  tool: OfferedTool,
  question: string,
  { parallelCalls }: ModelConversation,
): readonly ModelCall[] {
  return argumentsFor(tool, question, parallelCalls).map((args) => ({
    name: tool.name,
    arguments: JSON.stringify(args),
  }))
}

function callTo(tool: OfferedTool, value: string): ModelCall {
  const main = mainParameter(tool)
  return { name: tool.name, arguments: JSON.stringify(main === undefined ? {} : { [main]: value }) }
}

/** Returns true for a message that only greets or thanks. */
export function isSmallTalk(question: string): boolean {
  return (
    /^\W*(?:hi|hello|hey|thanks|thank you|good (?:morning|day|evening)|bye)\b/iu.test(question) &&
    wordsOf(question).length <= 5
  )
}
