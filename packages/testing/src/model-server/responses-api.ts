import { cutText } from '../base/chunking.ts'
import { asRecord, asString } from './json-access.ts'
import type { WireApi, WireObject, WireReply } from './wire-api.ts'
import { standInModel } from './wire-api.ts'
import {
  demandParameter,
  readFormat,
  readLimit,
  readToolChoice,
  readTools,
} from './wire-request.ts'
import { inputItems, readTurns } from './responses-input.ts'

/** https://platform.openai.com/docs/api-reference/responses, as openai 7.57 reads and writes it. */
export const responsesApi: WireApi = {
  read(body, stored) {
    demandParameter(body, 'model')
    demandParameter(body, 'input')
    const { instructions, turns } = readTurns(inputItems(body, stored))
    const tools = readTools(body, (tool) => tool)
    return {
      instructions: [asString(body['instructions']), instructions].filter(Boolean).join('\n'),
      turns,
      tools,
      toolChoice: readToolChoice(body['tool_choice'], tools),
      parallelCalls: body['parallel_tool_calls'] !== false,
      format: readFormat(asRecord(asRecord(body['text'])['format'])),
      maxTokens: readLimit(body, 'max_output_tokens'),
      stop: [],
    }
  },

  whole(reply) {
    return ended(reply)
  },

  events(reply) {
    const begun = response(reply, { status: 'in_progress', output: [] })
    const final = ended(reply)
    return numbered(
      [
        { type: 'response.created', response: begun },
        { type: 'response.in_progress', response: begun },
        ...outputOf(reply).flatMap((item, index) => itemEvents(item, index, reply.chunkChars)),
        { type: `response.${String(final['status'])}`, response: final },
      ],
      0,
    )
  },

  errorEvents(message, reply, sent) {
    const error = { code: 'server_error', message }
    return numbered(
      [
        { type: 'error', ...error, param: null },
        {
          type: 'response.failed',
          response: response(reply, { status: 'failed', error, output: [] }),
        },
      ],
      sent,
    )
  },
}

type Item = MessageItem | CallItem

interface MessageItem {
  readonly id: string
  readonly type: 'message'
  readonly status: string
  readonly content: readonly WireObject[]
  readonly role: 'assistant'
}

interface CallItem {
  readonly id: string
  readonly type: 'function_call'
  readonly status: string
  readonly arguments: string
  readonly call_id: string
  readonly name: string
}

function numbered(events: readonly WireObject[], first: number): readonly string[] {
  return events.map((event, index) => {
    const { type, ...rest } = event
    const data = { type, sequence_number: first + index, ...rest }
    return `event: ${String(type)}\ndata: ${JSON.stringify(data)}\n\n`
  })
}

function itemEvents(item: Item, output_index: number, chunkChars: number): readonly WireObject[] {
  const at = { item_id: item.id, output_index }
  const pieces = (text: string): readonly string[] =>
    cutText(text, chunkChars).filter((piece) => piece !== '')

  if (item.type === 'function_call') {
    return [
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, status: 'in_progress', arguments: '' },
      },
      ...pieces(item.arguments).map((delta) => ({
        type: 'response.function_call_arguments.delta',
        ...at,
        delta,
      })),
      { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments },
      { type: 'response.output_item.done', output_index, item },
    ]
  }
  return [
    {
      type: 'response.output_item.added',
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    },
    ...item.content.flatMap((part, content_index) => {
      const refused = part['type'] === 'refusal'
      const key = refused ? 'refusal' : 'text'
      const type = refused ? 'response.refusal' : 'response.output_text'
      const logprobs = refused ? {} : { logprobs: [] }
      const text = asString(part[key])
      return [
        { type: 'response.content_part.added', ...at, content_index, part: { ...part, [key]: '' } },
        ...pieces(text).map((delta) => ({
          type: `${type}.delta`,
          ...at,
          content_index,
          delta,
          ...logprobs,
        })),
        { type: `${type}.done`, ...at, content_index, [key]: text, ...logprobs },
        { type: 'response.content_part.done', ...at, content_index, part },
      ]
    }),
    { type: 'response.output_item.done', output_index, item },
  ]
}

function outputOf({ answer, ids }: WireReply): readonly Item[] {
  const status = answer.cut === undefined ? 'completed' : 'incomplete'
  const content: readonly WireObject[] = [
    ...(answer.text === undefined
      ? []
      : [{ type: 'output_text', annotations: [], logprobs: [], text: answer.text }]),
    ...(answer.refusal === undefined ? [] : [{ type: 'refusal', refusal: answer.refusal }]),
  ]
  const message: MessageItem = {
    id: `msg_${ids.response}`,
    type: 'message',
    status,
    content,
    role: 'assistant',
  }
  const calls = (answer.calls ?? []).map(
    ({ name, arguments: args }, index): CallItem => ({
      id: `fc_${ids.response}_${index}`,
      type: 'function_call',
      status,
      arguments: args,
      call_id: `call_${ids.conversation}_${index}`,
      name,
    }),
  )
  return content.length > 0 ? [message, ...calls] : calls
}

function ended(reply: WireReply): WireObject {
  const { cut } = reply.answer
  const reason = cut === 'length' ? 'max_output_tokens' : 'content_filter'
  return response(reply, {
    status: cut === undefined ? 'completed' : 'incomplete',
    completed_at: reply.createdAt,
    incomplete_details: cut === undefined ? null : { reason },
    output: outputOf(reply),
    usage: usageOf(reply),
  })
}

function usageOf({ usage }: WireReply): WireObject {
  const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 } = usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

function response({ ids, createdAt, request }: WireReply, fields: WireObject): WireObject {
  return {
    id: `resp_${ids.response}`,
    object: 'response',
    created_at: createdAt,
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: request['instructions'] ?? null,
    max_output_tokens: request['max_output_tokens'] ?? null,
    max_tool_calls: null,
    model: standInModel,
    parallel_tool_calls: request['parallel_tool_calls'] !== false,
    previous_response_id: request['previous_response_id'] ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    store: request['store'] !== false,
    temperature: request['temperature'] ?? 1,
    text: request['text'] ?? { format: { type: 'text' } },
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: request['tools'] ?? [],
    top_p: request['top_p'] ?? 1,
    truncation: 'disabled',
    usage: null,
    metadata: request['metadata'] ?? {},
    ...fields,
  }
}
