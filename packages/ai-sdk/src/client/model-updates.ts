import type { Annotation, Origin } from '@lamella/core/authoring'
import type { ChatResponse, ChatResponseUpdate, Content, FunctionCallContent } from '@lamella/core'
import { createId, foldUpdates } from '@lamella/core'
import type { ArgumentAliases, WireObject } from '@lamella/transport'
import {
  ArrivingCalls,
  InBandFailure,
  listOf,
  recordOf,
  stringOf,
  TransportFault,
} from '@lamella/transport'
import { toFileContent } from '../model/file-data.ts'
import { toFinish } from '../model/finish-reason.ts'
import { joinedMetadata } from '../model/joined-metadata.ts'
import type { AiSdkVersion } from '../model/language-model.ts'
import { toUsage } from '../model/model-usage.ts'
import { hostedContent } from './hosted-part.ts'
import { toCitation, toSource } from './source-annotation.ts'
import { partsOf } from './whole-parts.ts'

/** Parts of a request that the model is not sent. */
export interface OmittedParts {
  /** Options of the request that the model has no field for. */
  readonly ignored: readonly string[]
  /** Parts of the history that are left out or changed. */
  readonly losses: readonly string[]
  /** Names of properties that the request changed, by the name of the tool. */
  readonly aliases?: ArgumentAliases | undefined
}

/** Facts about a call before its answer. */
export interface UpdatesContext {
  readonly version: AiSdkVersion
  readonly origin: Origin
  readonly omitted: OmittedParts
}

/** One block of text or reasoning while its deltas arrive. */
interface Block {
  readonly kind: 'text' | 'reasoning'
  /** Set apart from the blocks beside it. */
  readonly id: string
  metadata: WireObject | undefined
  /** Metadata that an update has told. */
  told: WireObject | undefined
}

/** Makes updates of the parts of one answer, streamed or whole. */
export class ModelUpdates {
  readonly #context: UpdatesContext
  readonly #blocks = new Map<unknown, Block>()
  readonly #hosted = new Map<string, FunctionCallContent>()
  #last: Block | undefined
  #messageId: string | undefined
  readonly #calls: ArrivingCalls
  #thoughts = 0
  #sources = 0
  #hasModel = false
  /** Nothing that belongs to the answer can follow. */
  isOver = false

  constructor(context: UpdatesContext) {
    this.#context = context
    this.#calls = new ArrivingCalls([], context.omitted.aliases)
  }

  /** Appends what is new in a part of a stream. Throws an `InBandFailure` for one that is an error. */
  add(value: unknown, updates: ChatResponseUpdate[]): void {
    const part = recordOf(value)
    switch (part['type']) {
      case 'stream-start':
        return this.#warn(part['warnings'], updates)
      case 'response-metadata':
        return this.#describe(part, updates)
      case 'text-start':
      case 'reasoning-start':
        return this.#open(part)
      case 'text-delta':
      case 'reasoning-delta':
        return this.#piece(part, updates)
      case 'text-end':
      case 'reasoning-end':
        return this.#close(part, updates)
      case 'tool-call':
        return this.#call(part, updates)
      case 'tool-approval-request':
        return this.#askApproval(part, updates)
      case 'tool-result':
      case 'custom':
      case 'reasoning-file':
        return this.#say(hostedContent(part, this.#context.origin), updates)
      case 'source':
        return this.#cite(part, updates)
      case 'file': {
        const file = toFileContent(part)
        return file && this.#say({ ...file, ...dataOf(part['providerMetadata']) }, updates)
      }
      case 'finish':
        return this.#finish(part, updates)
      case 'error':
        throw new InBandFailure(part['error'])
      default:
    }
  }

  /** The stream has ended. */
  end(): void {
    if (!this.isOver) throw new TransportFault('truncated_stream', truncated)
  }

  /** The complete answer of a plain call. */
  static whole(result: WireObject, context: UpdatesContext): ChatResponse {
    const mapper = new ModelUpdates(context)
    const updates: ChatResponseUpdate[] = []
    for (const part of partsOf(result)) mapper.add(part, updates)
    mapper.#endCalls(updates)
    mapper.#settle(result, updates)
    return { ...foldUpdates(updates), raw: result }
  }

  #warn(warnings: unknown, updates: ChatResponseUpdate[]): void {
    if (listOf(warnings).length > 0) updates.push({ contents: [], metadata: { warnings } })
  }

  #describe({ id, modelId, timestamp }: WireObject, updates: ChatResponseUpdate[]): void {
    const responseId = stringOf(id)
    const model = stringOf(modelId)
    this.#hasModel ||= model !== undefined
    const isTime = timestamp instanceof Date && !Number.isNaN(timestamp.getTime())
    const isFirst = this.#messageId === undefined
    if (isFirst) this.#messageId = responseId
    updates.push({
      contents: [],
      ...(isFirst && responseId !== undefined && this.#messageFields),
      ...(responseId !== undefined && { responseId }),
      ...(model !== undefined && { model }),
      ...(isFirst && isTime && { createdAt: timestamp.toISOString() }),
    })
  }

  #open({ type, id, providerMetadata }: WireObject): void {
    const kind = type === 'text-start' ? 'text' : 'reasoning'
    this.#blocks.set(id, {
      kind,
      id: kind === 'text' ? '' : `reasoning-${this.#thoughts++}`,
      metadata: joinedMetadata(undefined, providerMetadata),
      told: undefined,
    })
  }

  #piece({ type, id, delta, providerMetadata }: WireObject, updates: ChatResponseUpdate[]): void {
    if (!this.#blocks.has(id)) this.#open({ type: String(type).replace('delta', 'start'), id })
    const block = this.#blocks.get(id)!
    block.metadata = joinedMetadata(block.metadata, providerMetadata)
    if (typeof delta === 'string' && delta !== '') this.#tell(block, delta, updates)
  }

  #close({ id, providerMetadata, citations }: WireObject, updates: ChatResponseUpdate[]): void {
    const block = this.#blocks.get(id)
    if (block === undefined) return
    // Ids begin anew in every answer, and may come again within one.
    this.#blocks.delete(id)
    block.metadata = joinedMetadata(block.metadata, providerMetadata)
    const annotations = listOf(citations).map(toCitation)
    if (block.metadata !== block.told || annotations.length > 0) {
      this.#tell(block, '', updates, annotations)
    }
  }

  #tell(
    block: Block,
    text: string,
    updates: ChatResponseUpdate[],
    annotations: readonly Annotation[] = [],
  ): void {
    const { kind: type, id, metadata } = block
    const isNews = metadata !== block.told
    block.told = metadata
    // Texts right behind one another are joined, and data of one would be taken for that of both.
    const before = this.#last
    const isOther = before !== undefined && before !== block && before.kind === 'text'
    if (type === 'text' && isOther && (before.told ?? metadata) !== undefined) {
      this.#messageId = createId('msg')
      updates.push({ contents: [], ...this.#messageFields })
    }
    this.#last = block
    updates.push({
      contents: [
        {
          type,
          text,
          ...(id !== '' && { id }),
          ...(isNews && { providerData: metadata }),
          ...(annotations.length > 0 && { annotations }),
        },
      ],
      ...this.#begun(updates),
    })
  }

  #call(part: WireObject, updates: ChatResponseUpdate[]): void {
    const { toolCallId: id, toolName: name, input, providerExecuted, dynamic } = part
    const metadata = recordOf(part['providerMetadata'])
    const { origin } = this.#context
    if (providerExecuted === true) {
      this.#hosted.set(stringOf(id) ?? '', {
        type: 'function-call',
        callId: stringOf(id) ?? '',
        name: stringOf(name) ?? '',
        arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
        informational: true,
      })
      this.#say(hostedContent(part, origin), updates)
      return
    }
    // Parts of one answer may repeat an id, but each of them is a whole call.
    const piece = { place: part, id, name, providerData: metadata, isStart: true }
    const calls = [
      ...this.#calls.add([{ ...piece, arguments: input ?? {} }], origin),
      ...this.#calls.endAt(part, origin),
    ]
    for (const { origin: _, ...call } of calls) {
      this.#say({ ...call, ...(dynamic === true && { metadata: { dynamic } }) }, updates)
    }
  }

  #endCalls(updates: ChatResponseUpdate[]): void {
    for (const { origin: _, ...call } of this.#calls.end(this.#context.origin)) {
      this.#say(call, updates)
    }
  }

  #askApproval(part: WireObject, updates: ChatResponseUpdate[]): void {
    const id = stringOf(part['approvalId']) ?? ''
    const callId = stringOf(part['toolCallId']) ?? ''
    const call = this.#hosted.get(callId) ?? {
      type: 'function-call',
      callId,
      name: '',
      arguments: '{}',
      informational: true,
    }
    const { origin } = this.#context
    const request: Content = { type: 'approval-request', id, call, hosted: true, origin }
    this.#say({ ...request, ...dataOf(part['providerMetadata']) }, updates)
  }

  #cite(part: WireObject, updates: ChatResponseUpdate[]): void {
    if (this.#last?.kind !== 'text') {
      const id = stringOf(part['id']) ?? `source-${this.#sources++}`
      this.#say(
        { type: 'hosted', name: 'source', id, data: part, origin: this.#context.origin },
        updates,
      )
      return
    }
    updates.push({
      contents: [{ type: 'text', text: '', annotations: [toSource(part)] }],
      ...this.#begun(updates),
    })
  }

  #finish(part: WireObject, updates: ChatResponseUpdate[]): void {
    for (const id of this.#blocks.keys()) this.#close({ id }, updates)
    this.#endCalls(updates)
    this.#settle(part, updates)
    const { isCut } = toFinish(part['finishReason'], this.#context.version)
    if (isCut) throw new TransportFault('truncated_stream', truncated)
    this.isOver = true
  }

  #settle(
    { finishReason, usage: told, providerMetadata }: WireObject,
    updates: ChatResponseUpdate[],
  ): void {
    const { version, origin, omitted } = this.#context
    const { ignored, losses } = omitted
    const { reason, raw, isCut } = toFinish(finishReason, version)
    const usage = toUsage(told)
    const rawUsage = recordOf(told)['raw']
    const metadata = {
      ...(raw !== undefined && { finishReason: raw }),
      ...(rawUsage !== undefined && { usage: rawUsage }),
      ...(providerMetadata !== undefined && { providerMetadata }),
      ...(ignored.length > 0 && { ignoredOptions: ignored }),
      ...(losses.length > 0 && { losses }),
    }
    updates.push({
      contents: [],
      ...(!(isCut && reason === 'other') && { finishReason: reason }),
      ...(usage !== undefined && { usage }),
      ...(!this.#hasModel && origin.model !== undefined && { model: origin.model }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    })
  }

  #say(content: Content, updates: ChatResponseUpdate[]): void {
    this.#last = undefined
    updates.push({ contents: [content], ...this.#begun(updates) })
  }

  /** The message that contents belong to. It is told before its first content. */
  #begun(updates: ChatResponseUpdate[]): { readonly messageId: string } {
    if (this.#messageId === undefined) {
      this.#messageId = createId('msg')
      updates.push({ contents: [], ...this.#messageFields })
    }
    return { messageId: this.#messageId }
  }

  get #messageFields(): Pick<ChatResponseUpdate, 'messageId' | 'role' | 'origin'> {
    return { messageId: this.#messageId, role: 'assistant', origin: this.#context.origin }
  }
}

const truncated = 'the stream broke off before its end'

function dataOf(metadata: unknown): { readonly providerData?: unknown } {
  return metadata === undefined ? {} : { providerData: metadata }
}
