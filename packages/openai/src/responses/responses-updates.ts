import type { ChatResponseUpdate, Content, FinishReason } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { createId } from '@lamella/core'
import type { AnswerMapper, WireObject } from '@lamella/transport'
import {
  ArrivingCalls,
  defined,
  InBandFailure,
  listOf,
  recordOf,
  stringOf,
  TransportFault,
  unlessEmpty,
} from '@lamella/transport'
import type { MapperContext } from '../answers/answer-mapper.ts'
import { requestNotes } from '../answers/answer-mapper.ts'
import { toUsage } from '../answers/openai-usage.ts'
import { toAnnotation } from '../answers/to-annotation.ts'
import type { ItemName } from './output-items.ts'
import { OutputItems } from './output-items.ts'
import type { Piece } from './responses-output-item.ts'
import { OutputItem } from './responses-output-item.ts'
import { isoTime } from '../answers/iso-time.ts'

/** Makes updates of the events of the Responses API, and of a whole response by the same code. */
export class ResponsesUpdates implements AnswerMapper {
  isOver = false
  readonly #context: MapperContext
  readonly #items = new OutputItems()
  readonly #calls: ArrivingCalls
  #origin: Origin
  #messageId: string | undefined
  #openId: string | undefined
  #hasSaid = false
  #hasRefused = false
  #hasBegun = false
  #reasoningId: string | undefined
  #isStored = false

  constructor(context: MapperContext) {
    this.#context = context
    this.#calls = new ArrivingCalls(context.toolNames, context.aliases)
    this.#origin = { provider: context.provider, ...(context.model && { model: context.model }) }
  }

  end(): boolean {
    return this.isOver
  }

  /** Appends the updates of a response that came in one piece. */
  whole(response: WireObject, updates: ChatResponseUpdate[]): void {
    refuseCompletion(response)
    this.#begin(response, updates)
    this.#finish(response, updates)
  }

  map(value: unknown, updates: ChatResponseUpdate[]): void {
    const event = recordOf(value)
    const type = event['type']
    switch (type) {
      case 'response.output_text.delta':
        return this.#piece(event, updates, 'text', event['delta'], event['content_index'])
      case 'response.reasoning_summary_text.delta':
        return this.#piece(event, updates, 'summary', event['delta'], event['summary_index'])
      case 'response.reasoning_text.delta':
        return this.#piece(event, updates, 'raw', event['delta'], event['content_index'])
      case 'response.refusal.delta':
        return this.#piece(event, updates, 'refusal', event['delta'], event['content_index'])
      case 'response.output_text.done':
        return this.#whole(event, updates, 'text', event['text'], event['content_index'])
      case 'response.refusal.done':
        return this.#whole(event, updates, 'refusal', event['refusal'], event['content_index'])
      case 'response.reasoning_summary_text.done':
        return this.#whole(event, updates, 'summary', event['text'], event['summary_index'])
      case 'response.reasoning_text.done':
        return this.#whole(event, updates, 'raw', event['text'], event['content_index'])
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#arguments(event, event['delta'], false, updates)
      case 'response.function_call_arguments.done':
        return this.#arguments(event, event['arguments'], true, updates)
      case 'response.custom_tool_call_input.done':
        return this.#arguments(event, event['input'], true, updates)
      case 'response.output_text.annotation.added': {
        const item = this.#itemOf(event, 'message')
        const annotation = toAnnotation(event['annotation'], item.offsetOf(event['content_index']))
        item.annotationCount++
        return this.#emit(updates, item, { type: 'text', text: '', annotations: [annotation] })
      }
      case 'response.output_item.added':
        return this.#added(event, recordOf(event['item']), updates)
      case 'response.output_item.done':
        return this.#done(event, recordOf(event['item']), updates)
      case 'response.created':
      case 'response.queued':
      case 'response.in_progress':
        return this.#begin(recordOf(event['response']), updates)
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#finish(recordOf(event['response']), updates)
      case 'error':
        throw new InBandFailure(event)
      default:
        if (type === undefined) refuseCompletion(event)
    }
  }

  #begin(response: WireObject, updates: ChatResponseUpdate[]): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    const responseId = stringOf(response['id'])
    const model = stringOf(response['model'])
    this.#messageId = responseId
    this.#openId = this.#currentMessageId
    this.#isStored = response['store'] === true
    if (this.#origin.model === undefined && model) this.#origin = { ...this.#origin, model }
    updates.push({
      contents: [],
      role: 'assistant',
      messageId: this.#openId,
      origin: this.#origin,
      ...defined({ responseId, model, createdAt: isoTime(response['created_at']) }),
    })
  }

  #added(event: WireObject, wire: WireObject, updates: ChatResponseUpdate[]): void {
    const name = nameOf(event, wire)
    const item = this.#items.announced(name) ?? this.#newItem(name, wire)
    for (const content of item.begin(wire)) this.#emit(updates, item, content)
  }

  #piece(
    event: WireObject,
    updates: ChatResponseUpdate[],
    kind: Piece,
    delta: unknown,
    part: unknown,
  ): void {
    if (typeof delta !== 'string' || delta === '') return
    const item = this.#itemOf(event, typesOfPieces[kind])
    if (kind === 'refusal') this.#hasRefused = true
    this.#emit(updates, item, item.piece(kind, delta, part))
  }

  #whole(
    event: WireObject,
    updates: ChatResponseUpdate[],
    kind: Piece,
    text: unknown,
    part: unknown,
  ): void {
    if (typeof text !== 'string' || text === '') return
    const item = this.#itemOf(event, typesOfPieces[kind])
    if (kind === 'refusal') this.#hasRefused = true
    for (const content of item.whole(kind, text, part)) this.#emit(updates, item, content)
  }

  /** Without the call that they are of, arguments wait for the finished item. */
  #arguments(
    event: WireObject,
    value: unknown,
    isWhole: boolean,
    updates: ChatResponseUpdate[],
  ): void {
    const item = this.#items.ofPiece(nameOf(event))
    if (item === undefined) return
    for (const content of item.arguments(value, isWhole)) this.#emit(updates, item, content)
  }

  #done(event: WireObject, wire: WireObject, updates: ChatResponseUpdate[]): void {
    const name = nameOf(event, wire)
    this.#end(this.#items.finished(name) ?? this.#newItem(name, wire), wire, updates)
  }

  #end(item: OutputItem, wire: WireObject, updates: ChatResponseUpdate[]): void {
    for (const content of item.finish(wire)) {
      if (content.type === 'refusal') this.#hasRefused = true
      this.#emit(updates, item, content)
    }
  }

  #finish(response: WireObject, updates: ChatResponseUpdate[]): void {
    this.#begin(response, updates)
    const known = this.#items.inWhole()
    for (const [index, value] of listOf(response['output']).entries()) {
      const wire = recordOf(value)
      const name = nameOf({ output_index: index }, wire)
      const item = known(name) ?? this.#newItem(name, wire)
      if (!item.isFinished) this.#end(item, wire, updates)
    }
    for (const call of this.#calls.end(this.#origin)) {
      updates.push({ contents: [call], messageId: this.#currentMessageId })
    }
    this.isOver = true
    const status = stringOf(response['status']) ?? 'completed'
    const logProbs = listOf(response['output']).flatMap((item) =>
      listOf(recordOf(item)['content']).flatMap((part) => listOf(recordOf(part)['logprobs'])),
    )
    const isRunning = status === 'in_progress' || status === 'queued'
    const metadata = {
      ...defined({
        serviceTier: stringOf(response['service_tier']),
        status: isRunning ? status : undefined,
        logProbs: logProbs.length > 0 ? logProbs : undefined,
      }),
      ...requestNotes(this.#context),
      ...this.#context.metadataOf?.(response),
    }
    updates.push({
      contents: [],
      ...defined({
        responseId: stringOf(response['id']),
        model: stringOf(response['model']),
        finishReason: this.#finishReason(status, response),
        usage: toUsage(response['usage']),
        conversationId:
          stringOf(recordOf(response['conversation'])['id']) ?? this.#context.conversationId,
        metadata: unlessEmpty(metadata),
      }),
    })
    if (status === 'failed' || status === 'cancelled') {
      throw new InBandFailure(response['error'] ?? { code: `response_${status}` })
    }
  }

  #finishReason(status: string, response: WireObject): FinishReason | undefined {
    if (status === 'failed' || status === 'cancelled') return 'error'
    if (status === 'incomplete') {
      const reason = stringOf(recordOf(response['incomplete_details'])['reason'])
      if (reason === 'content_filter') return 'content-filter'
      return reason === undefined || reason.startsWith('max_') ? 'length' : reason
    }
    if (status !== 'completed') return undefined
    if (this.#calls.count > 0) return 'tool-calls'
    return this.#hasRefused ? 'refusal' : 'stop'
  }

  #itemOf(event: WireObject, type: string): OutputItem {
    const name = { ...nameOf(event), type }
    return this.#items.ofPiece(name) ?? this.#newItem(name, {})
  }

  #newItem(name: ItemName, wire: WireObject): OutputItem {
    const { id, index, callId, type = '' } = name
    // A second message of one response is a message of its own; anything else belongs to the last.
    if (type === 'message' && this.#hasSaid) this.#messageId = id ?? createId('msg')
    if (type === 'message') this.#hasSaid = true
    if (type === 'reasoning') this.#reasoningId = id
    const item = new OutputItem({
      type,
      id,
      index,
      callId,
      calls: this.#calls,
      messageId: this.#currentMessageId,
      origin: this.#origin,
      reasoningId: type === 'reasoning' ? undefined : this.#reasoningId,
      isStored: this.#isStored,
      phase: stringOf(wire['phase']),
    })
    this.#items.add(item, name)
    return item
  }

  get #currentMessageId(): string {
    return (this.#messageId ??= createId('msg'))
  }

  #emit(updates: ChatResponseUpdate[], { messageId }: OutputItem, content: Content): void {
    const isOpen = messageId === this.#openId
    this.#openId = messageId
    updates.push({ contents: [content], messageId, ...(!isOpen && { origin: this.#origin }) })
  }
}

/** The type of the item that a piece belongs to. */
const typesOfPieces: Readonly<Record<Piece, string>> = {
  text: 'message',
  refusal: 'message',
  summary: 'reasoning',
  raw: 'reasoning',
}

function nameOf(event: WireObject, wire: WireObject = {}): ItemName {
  const id = stringOf(wire['id']) ?? stringOf(event['item_id'])
  return {
    id,
    index: event['output_index'] ?? id,
    type: stringOf(wire['type']),
    callId: stringOf(wire['call_id']),
  }
}

/** Servers answer with a completion on a path that they do not know. Its text would be lost. */
function refuseCompletion(body: WireObject): void {
  if (!('choices' in body) || 'output' in body) return
  const words = 'the answer is a chat completion instead of a response'
  throw new TransportFault('server', `${words}: use OpenAIChatCompletionsClient`, {
    retryable: false,
  })
}
