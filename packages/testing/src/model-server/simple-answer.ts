import { asList, asRecord } from './json-access.ts'
import { jsonAnswer } from './json-answer.ts'
import type {
  ModelAnswer,
  ModelCall,
  ModelConversation,
  ModelTurn,
  OfferedTool,
} from './model-conversation.ts'

const whoIAm = 'I am lamella-stand-in, a deterministic stand-in for a language model.'

/**
 * Answers without a model: calls the first tool that shares a word with the question, once for each name
 * in the question, then reports the results. The same conversation always gets the same answer.
 */
export function simpleAnswer(conversation: ModelConversation): ModelAnswer {
  const { turns, format } = conversation
  const asked = turns.findLastIndex(({ role }) => role === 'user')
  const question = turns[asked]?.text ?? ''
  const since = turns.slice(asked + 1)
  const tool = toolFor(conversation, question, since)
  if (tool !== undefined) {
    const calls = subjectsOf(question).map((subject) => callOf(tool, subject))
    return { calls: conversation.parallelCalls ? calls : calls.slice(0, 1) }
  }
  const text = reportOf(since) || `${whoIAm} You asked: "${question}"`
  if (format === 'text') return { text }
  return {
    text: JSON.stringify(format === 'json' ? { answer: text } : jsonAnswer(format.schema, text)),
  }
}

function toolFor(
  { tools, toolChoice }: ModelConversation,
  question: string,
  since: readonly ModelTurn[],
): OfferedTool | undefined {
  if (toolChoice === 'none') return undefined
  if (typeof toolChoice === 'object') return tools.find(({ name }) => name === toolChoice.name)
  if (toolChoice === 'required') return bestTool(tools, question) ?? tools[0]
  return since.length === 0 ? bestTool(tools, question) : undefined
}

function bestTool(tools: readonly OfferedTool[], question: string): OfferedTool | undefined {
  const asked = longWords(question)
  return tools.find(({ name, description }) =>
    longWords(`${name} ${description}`).some((word) => asked.includes(word)),
  )
}

/** Words of four letters or more, in lower case and without a plural s. */
function longWords(text: string): string[] {
  return (text.toLowerCase().match(/\p{L}{4,}/gu) ?? []).map((word) => word.replace(/s$/, ''))
}

/** The names in a question, such as cities, or else the question itself. */
function subjectsOf(question: string): readonly string[] {
  return question.match(/(?<!^)(?<![\p{L}\d])\p{Lu}[\p{L}\d-]+/gu) ?? [question]
}

/** A call with the required arguments only. */
function callOf({ name, parameters }: OfferedTool, subject: string): ModelCall {
  const required = asList(parameters['required'])
  const properties = Object.entries(asRecord(parameters['properties'])).filter(([property]) =>
    required.includes(property),
  )
  const schema = { ...parameters, type: 'object', properties: Object.fromEntries(properties) }
  return { name, arguments: JSON.stringify(jsonAnswer(schema, subject)) }
}

function reportOf(since: readonly ModelTurn[]): string {
  const names = new Map(since.flatMap(({ calls }) => calls.map(({ id, name }) => [id, name])))
  return since
    .filter(({ role }) => role === 'tool')
    .map(({ callId = '', text }) => `${names.get(callId) ?? 'A tool'} says: ${text}`)
    .join('\n')
}
