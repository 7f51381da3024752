import type { ChatResponseUpdate, Content, FinishReason } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { createId } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { defined, InBandFailure, listOf, recordOf, stringOf } from '@lamella/transport'
import type { AnswerMapper, MapperContext } from '../answers/answer-mapper.ts'
import { requestNotes } from '../answers/answer-mapper.ts'
import { toUsage } from '../answers/openai-usage.ts'
import { toAnnotation } from '../answers/to-annotation.ts'
import type { Piece } from './responses-output-item.ts'
import { OutputItem } from './responses-output-item.ts'
import { isoTime } from '../answers/iso-time.ts'

/**
 * Makes updates of the events of the Responses API, and of a whole response by the same code. Items
 * are told apart by `output_index`: some servers change the ids from event to event.
 */
export class ResponsesUpdates implements AnswerMapper {
  isOver = false
  readonly #context: MapperContext
  readonly #items = new Map<unknown, OutputItem>()
  readonly #seenIds = new Set<unknown>()
  #origin: Origin
  #messageId: string | undefined
  #openId: string | undefined
  #hasSaid = false
  #hasRefused = false
  #hasBegun = false
  #calls = 0
  #reasoningId: string | undefined
  #isStored = false

  constructor(context: MapperContext) {
    this.#context = context
    this.#origin = { provider: context.provider, ...(context.model && { model: context.model }) }
  }

  end(): boolean {
    return this.isOver
  }

  /** Appends the updates of a response that came in one piece. */
  whole(response: WireObject, updates: ChatResponseUpdate[]): void {
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
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        return this.#piece(event, updates, 'arguments', event['delta'], 0)
      case 'response.output_text.annotation.added': {
        const item = this.#item(event)
        const annotation = toAnnotation(event['annotation'], item.offsetOf(event['content_index']))
        item.annotationCount++
        return this.#emit(updates, item, { type: 'text', text: '', annotations: [annotation] })
      }
      case 'response.output_item.added':
        return this.#added(event, recordOf(event['item']), updates)
      case 'response.output_item.done':
        return this.#done(event['output_index'], recordOf(event['item']), updates)
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
    const item = this.#item(event, wire)
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
    // Without the call that they are of, arguments wait for the finished item.
    if (kind === 'arguments' && !this.#items.has(event['output_index'])) return
    const item = this.#item(event, typesOfPieces[kind])
    if (kind === 'refusal') this.#hasRefused = true
    const content = item.piece(kind, delta, part)
    if (content !== undefined) this.#emit(updates, item, content)
  }

  #done(index: unknown, wire: WireObject, updates: ChatResponseUpdate[]): void {
    const item = this.#item({ output_index: index }, wire)
    for (const content of item.finish(wire)) {
      if (content.type === 'refusal') this.#hasRefused = true
      this.#emit(updates, item, content)
    }
  }

  #finish(response: WireObject, updates: ChatResponseUpdate[]): void {
    this.#begin(response, updates)
    for (const [index, value] of listOf(response['output']).entries()) {
      const wire = recordOf(value)
      const isNew = !this.#items.has(index) && !this.#seenIds.has(wire['id'])
      if (isNew || this.#items.get(index)?.isFinished === false) this.#done(index, wire, updates)
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
        metadata: Object.keys(metadata).length > 0 ? metadata : undefined,
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
    if (this.#calls > 0) return 'tool-calls'
    return this.#hasRefused ? 'refusal' : 'stop'
  }

  #item(event: WireObject, wire?: WireObject): OutputItem {
    const index = event['output_index'] ?? event['item_id'] ?? wire?.['id']
    let item = this.#items.get(index)
    if (item === undefined) {
      const id = stringOf(wire?.['id'] ?? event['item_id'])
      const type = stringOf(wire?.['type']) ?? ''
      // A second message of one response is a message of its own; anything else belongs to the last.
      if (type === 'message' && this.#hasSaid) this.#messageId = id ?? createId('msg')
      if (type === 'message') this.#hasSaid = true
      if (type === 'reasoning') this.#reasoningId = id
      item = new OutputItem({
        type,
        id,
        messageId: this.#currentMessageId,
        origin: this.#origin,
        reasoningId: type === 'reasoning' ? undefined : this.#reasoningId,
        isStored: this.#isStored,
        phase: stringOf(wire?.['phase']),
        callIndex: /^(function|custom_tool)_call$/.test(type) ? this.#calls++ : undefined,
      })
      this.#items.set(index, item)
    }
    if (wire?.['id'] !== undefined) this.#seenIds.add(wire['id'])
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

/** The item that a piece belongs to, should it not have been announced. */
const typesOfPieces: Readonly<Record<Piece, WireObject>> = {
  text: { type: 'message' },
  refusal: { type: 'message' },
  summary: { type: 'reasoning' },
  raw: { type: 'reasoning' },
  arguments: {},
}
