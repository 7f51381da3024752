import type { ChatPart } from '../reader/answer-fold.ts'
import { answerFold } from '../reader/answer-fold.ts'
import type { AnswerHead, Final, OpenAIWriter } from './openai-writer.ts'
import { usageOf } from './openai-writer.ts'

type Update = Parameters<ReturnType<typeof answerFold>>[0]

interface Item {
  readonly at: number
  readonly part: ChatPart
}

/** Writes an answer as a response. https://platform.openai.com/docs/api-reference/responses */
export function responsesWriter(head: AnswerHead): OpenAIWriter {
  const parts: ChatPart[] = []
  const fold = answerFold(parts)
  let number = 0
  /** Items that are not done. Pieces of several calls may alternate. */
  let open: Item[] = []
  let count = 0
  let hasBegun = false
  const event = (type: string, fields: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...fields })}\n\n`
  const response = (status: string, fields: object = {}): object => ({
    id: `resp_${head.id}`,
    object: 'response',
    created_at: head.created,
    status,
    model: head.model,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    output: [],
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: null,
    ...fields,
  })
  const begin = (): string => {
    if (hasBegun) return ''
    hasBegun = true
    const begun = { response: response('in_progress') }
    return event('response.created', begun) + event('response.in_progress', begun)
  }
  const close = (isClosed: (item: Item) => boolean = () => true): string => {
    const closed = open.filter(isClosed)
    open = open.filter((item) => !closed.includes(item))
    return closed.map(done).join('')
  }
  const done = ({ at, part }: Item): string => {
    const item = itemOf(part, at, head.id, 'completed')
    const last = event('response.output_item.done', { output_index: at, item })
    const where = { item_id: item.id, output_index: at }
    if (part.type === 'function-call') {
      const args = { ...where, name: part.name, arguments: part.arguments }
      return event('response.function_call_arguments.done', args) + last
    }
    const inside = { ...where, content_index: 0 }
    const text = event(`${kindOf(part)}.done`, { ...inside, ...wordsOf(part) })
    if (part.type === 'reasoning') return text + last
    return text + event('response.content_part.done', { ...inside, part: contentOf(part) }) + last
  }
  const start = (given: ChatPart): string => {
    const at = count++
    const empty = given.type === 'function-call' ? { arguments: '' } : { text: '' }
    const part = { ...given, ...empty }
    open.push({ at, part })
    const item = itemOf(part, at, head.id, 'in_progress')
    const added = event('response.output_item.added', {
      output_index: at,
      item: 'content' in item ? { ...item, content: [] } : item,
    })
    if (part.type === 'function-call' || part.type === 'reasoning') return added
    const inside = { item_id: item.id, output_index: at, content_index: 0 }
    return added + event('response.content_part.added', { ...inside, part: contentOf(part) })
  }
  const piece = (part: ChatPart): string => {
    if (!shownTypes.has(part.type)) return ''
    const known = open.findLast(({ part: begun }) => isSameItem(begun, part))
    const isText = (item: Item): boolean => item.part.type !== 'function-call'
    const started = known === undefined ? close(isText) + start(part) : ''
    const { at, part: whole } = known ?? open.at(-1)!
    const where = { item_id: itemOf(whole, at, head.id, '').id, output_index: at }
    if (part.type === 'function-call') {
      const { arguments: delta = '' } = part
      whole.arguments += delta
      return started + event('response.function_call_arguments.delta', { ...where, delta })
    }
    const { text: delta = '' } = part
    whole.text += delta
    return (
      started +
      event(`${kindOf(part)}.delta`, { ...where, content_index: 0, delta, ...noProbs(part) })
    )
  }
  const ended = (final: Final): object => {
    const output = parts
      .filter(({ type }) => shownTypes.has(type))
      .map((part, at) => itemOf(part, at, head.id, 'completed'))
    const reason = cutBy(final)
    return response(reason === undefined ? 'completed' : 'incomplete', {
      output,
      incomplete_details: reason === undefined ? null : { reason },
      usage: usageOf(final.usage, ['input', 'output']),
    })
  }
  return {
    add(update) {
      fold(update as Update)
      const isAnswer = update.role === undefined || update.role === 'assistant'
      if (!isAnswer || update.contents.length === 0) return update.role === 'tool' ? close() : ''
      return begin() + (update.contents as readonly ChatPart[]).map(piece).join('')
    },
    end(final) {
      const last = cutBy(final) === undefined ? 'response.completed' : 'response.incomplete'
      return begin() + close() + event(last, { response: ended(final) })
    },
    fail({ code, message }) {
      const error = { code: 'server_error', message }
      return (
        event('error', { code, message, param: null }) +
        event('response.failed', { response: response('failed', { error }) })
      )
    },
    whole: ended,
  }
}

/** A piece of a call has its id, or only its index. */
function isSameItem(begun: ChatPart, { type, callId, index }: ChatPart): boolean {
  if (begun.type !== type || type !== 'function-call') return begun.type === type
  return callId ? begun.callId === callId : begun['index'] === index
}

const shownTypes: ReadonlySet<string> = new Set(['text', 'refusal', 'reasoning', 'function-call'])

function kindOf({ type }: ChatPart): string {
  if (type === 'refusal') return 'response.refusal'
  return type === 'reasoning' ? 'response.reasoning_text' : 'response.output_text'
}

function noProbs({ type }: ChatPart): object {
  return type === 'text' ? { logprobs: [] } : {}
}

function wordsOf(part: ChatPart): object {
  const { type, text } = part
  return type === 'refusal' ? { refusal: text } : { text, ...noProbs(part) }
}

function contentOf({ type, text = '' }: ChatPart): object {
  return type === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] }
}

function itemOf(part: ChatPart, at: number, id: string, status: string): { readonly id: string } {
  if (part.type === 'function-call') {
    const { callId, name, arguments: args = '' } = part
    const call = { type: 'function_call', call_id: callId, name, arguments: args, status }
    return { id: `fc_${id}_${at}`, ...call }
  }
  if (part.type === 'reasoning') {
    const content = [{ type: 'reasoning_text', text: part.text }]
    const thought = { type: 'reasoning', summary: [], content, status }
    return { id: `rs_${id}_${at}`, ...thought }
  }
  const message = { type: 'message', role: 'assistant', content: [contentOf(part)], status }
  return { id: `msg_${id}_${at}`, ...message }
}

function cutBy({ status, finishReason }: Final): string | undefined {
  if (status === 'blocked' || finishReason === 'content-filter') return 'content_filter'
  if (status === 'budget_exhausted' || finishReason === 'length') return 'max_output_tokens'
  return undefined
}
