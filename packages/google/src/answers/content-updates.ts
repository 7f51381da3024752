import type { ChatResponseUpdate, Content, FinishReason } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { createId } from '@lamella/core'
import type { EventMapper, WireObject } from '@lamella/transport'
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
import type { GoogleSafetyResults } from '../safety/google-content-filter.ts'
import { contentFilter, safetyResults } from '../safety/safety-results.ts'
import { endingOf, isFailure } from '../errors/endings.ts'
import { toUsage } from './google-usage.ts'
import { annotationsOf } from './grounding.ts'

export interface MapperContext {
  readonly provider: string
  /** As it was asked for: the name under which it will be asked again. */
  readonly model: string | undefined
  /** Names of the tools, by those that Google was told. */
  readonly toolNames: ReadonlyMap<string, string>
  /** Parts that the request left out: options, parts of the history, tools. */
  readonly notes: Readonly<Record<string, unknown>>
}

/** Makes updates of the events of a stream, and of a whole answer by the same code. */
export class ContentUpdates implements EventMapper {
  isOver = false
  readonly #context: MapperContext
  readonly #origin: Origin
  readonly #calls: ArrivingCalls
  /** Place of the last call: each part with a name begins one of its own. */
  #place = 0
  #messageId: string | undefined
  #wireReason: string | undefined
  #toldReason: FinishReason | undefined
  /** The thought that a further piece continues. */
  #thoughtId: string | undefined
  #thoughts = 0
  /** The text that a further piece continues. */
  #text = ''
  #hasText = false
  #hasParts = false
  /** The signature of the last text, which stands behind its annotations. */
  #textSignature: string | undefined
  #prompt: GoogleSafetyResults | undefined
  #completion: GoogleSafetyResults | undefined
  readonly #cited = new Set<string>()

  constructor(context: MapperContext) {
    this.#context = context
    this.#origin = { provider: context.provider, ...(context.model && { model: context.model }) }
    this.#calls = new ArrivingCalls([...context.toolNames.values()])
  }

  end(): boolean {
    return this.#wireReason !== undefined
  }

  /** Appends the updates of an answer that came in one piece. */
  whole(body: WireObject, updates: ChatResponseUpdate[]): void {
    this.map(body, updates)
    if (this.#wireReason !== undefined) return
    throw new TransportFault('server', 'the answer has no finish reason')
  }

  map(event: unknown, updates: ChatResponseUpdate[]): void {
    const body = recordOf(event)
    const candidate = recordOf(candidateOf(body))
    const reason = stringOf(candidate['finishReason'])
    this.#begin(body, updates)
    const parts = listOf(recordOf(candidate['content'])['parts']).map(recordOf)
    for (const part of parts) this.#part(part, updates)
    if (reason !== undefined) {
      this.#wireReason = reason
      this.#emit(this.#calls.end(this.#origin), updates)
    }
    this.#cite(candidate, updates)
    if (reason !== undefined) this.#sign(updates)
    this.#facts(body, candidate, updates)
    this.#checkBlock(body)
    if (reason === undefined) return
    if (isFailure(endingOf(reason))) throw new InBandFailure({ status: reason })
    // Google has no word for the end of a stream, and gateways tell a finish reason with every piece
    // (QuantumNous/new-api#378) or before the first one (Chevey339/kelivo#1003).
    const isLast = body['usageMetadata'] != null && parts.every(isBlank)
    this.isOver = isLast && this.#hasParts
  }

  #begin({ responseId: id, modelVersion }: WireObject, updates: ChatResponseUpdate[]): void {
    if (this.#messageId !== undefined) return
    const responseId = stringOf(id)
    this.#messageId = responseId ?? createId('msg')
    updates.push({
      contents: [],
      role: 'assistant',
      messageId: this.#messageId,
      origin: this.#origin,
      ...defined({ responseId, model: stringOf(modelVersion) ?? this.#context.model }),
    })
  }

  #part(part: WireObject, updates: ChatResponseUpdate[]): void {
    const { text, thought, thoughtSignature, functionCall, inlineData, fileData } = part
    const signature = stringOf(thoughtSignature)
    this.#hasParts ||= !isBlank(part)
    if (functionCall !== undefined) {
      this.#emit(this.#call(recordOf(functionCall), signature), updates)
      return
    }
    if (Object.keys(part).length === 0) return
    this.#emit(this.#calls.endAt(this.#place, this.#origin), updates)
    if (typeof text === 'string') {
      if (thought === true) this.#think(text, signature, updates)
      else this.#say(text, signature, updates)
      return
    }
    const { mimeType, data, fileUri } = recordOf(inlineData ?? fileData)
    const mediaType = stringOf(mimeType)
    const providerData = signature && { providerData: { thoughtSignature: signature } }
    if (thought !== true && mediaType && typeof data === 'string') {
      this.#emit([{ type: 'data', mediaType, data, ...providerData }], updates)
    } else if (thought !== true && stringOf(fileUri)) {
      const uri = String(fileUri)
      this.#emit([{ type: 'uri', uri, ...(mediaType && { mediaType }), ...providerData }], updates)
    } else {
      this.#emit([{ type: 'hosted', name: hostedName(part), data: part }], updates)
    }
  }

  /**
   * Google sends a call and its arguments in one part; gateways send the arguments with a later part without
   * a name (smallmain/vscode-unify-chat-provider#48).
   */
  #call(wire: WireObject, signature: string | undefined): readonly Content[] {
    const { id, name, args, partialArgs, willContinue } = wire
    if (partialArgs !== undefined || willContinue === true) {
      throw new TransportFault('server', 'arguments came in parts', { retryable: false })
    }
    const wireName = stringOf(name)
    const done = wireName === undefined ? [] : this.#calls.endAt(this.#place++, this.#origin)
    const piece = {
      place: this.#place,
      id,
      name: wireName && (this.#context.toolNames.get(wireName) ?? wireName),
      arguments: args ?? (wireName === undefined ? undefined : {}),
      providerData: signature === undefined ? undefined : { thoughtSignature: signature },
    }
    return [...done, ...this.#calls.add([piece], this.#origin)]
  }

  #think(text: string, signature: string | undefined, updates: ChatResponseUpdate[]): void {
    if (text === '' && signature === undefined) return
    const id = (this.#thoughtId ??= `${this.#messageId}#${this.#thoughts++}`)
    this.#emit(
      [
        {
          type: 'reasoning',
          text,
          id,
          kind: 'summary',
          ...(signature && { protected: signature }),
        },
      ],
      updates,
    )
    // A part with a signature is complete.
    this.#thoughtId = signature === undefined ? id : undefined
  }

  #say(text: string, signature: string | undefined, updates: ChatResponseUpdate[]): void {
    if (text !== '') this.#emit([{ type: 'text', text }], updates)
    this.#textSignature = signature ?? this.#textSignature
  }

  /** Puts a signature beside its text, and not into it: texts are joined, and it belongs to one part. */
  #sign(updates: ChatResponseUpdate[]): void {
    const signature = this.#textSignature
    if (signature === undefined) return
    this.#textSignature = undefined
    const id = `${this.#messageId}#${this.#thoughts++}`
    const of = { providerData: { of: 'text' } }
    this.#emit([{ type: 'reasoning', text: '', id, protected: signature, ...of }], updates)
  }

  #cite(candidate: WireObject, updates: ChatResponseUpdate[]): void {
    if (!this.#hasText) return
    const fresh = annotationsOf(candidate, this.#text).filter((annotation) => {
      const key = JSON.stringify(annotation)
      return !this.#cited.has(key) && this.#cited.add(key)
    })
    if (fresh.length > 0) this.#tell({ type: 'text', text: '', annotations: fresh }, updates)
  }

  /** Adds the facts of the whole answer. What a later event tells again, replaces it. */
  #facts(body: WireObject, candidate: WireObject, updates: ChatResponseUpdate[]): void {
    const usage = toUsage(body['usageMetadata'])
    const finishReason = this.#finishReason()
    const isNews = finishReason !== this.#toldReason
    this.#toldReason = finishReason
    const { promptFeedback, usageMetadata } = body
    const { trafficType, serviceTier } = recordOf(usageMetadata)
    const { safetyRatings, blockReason } = recordOf(promptFeedback)
    const filtered = finishReason === 'content-filter' ? this.#wireReason : undefined
    const isUnusual = filtered !== undefined || finishReason === 'error'
    this.#prompt = safetyResults(safetyRatings, blockOf(blockReason)) ?? this.#prompt
    this.#completion = safetyResults(candidate['safetyRatings'], filtered) ?? this.#completion
    const metadata = defined({
      contentFilter: contentFilter(this.#prompt, this.#completion),
      groundingMetadata: candidate['groundingMetadata'] ?? undefined,
      urlContextMetadata: candidate['urlContextMetadata'] ?? undefined,
      continuationToken: candidate['continuationToken'] ?? undefined,
      serviceTier: stringOf(serviceTier) ?? stringOf(trafficType),
      ...(isUnusual && { finishReason: this.#wireReason }),
      ...(isNews && this.#context.notes),
    })
    if (!isNews && usage === undefined && Object.keys(metadata).length === 0) return
    updates.push({
      contents: [],
      ...defined({
        finishReason: isNews ? finishReason : undefined,
        usage,
        metadata: unlessEmpty(metadata),
      }),
    })
  }

  #finishReason(): FinishReason | undefined {
    if (this.#wireReason === undefined) return undefined
    if (this.#wireReason === 'STOP') return this.#calls.count > 0 ? 'tool-calls' : 'stop'
    const ending = endingOf(this.#wireReason)
    return isFailure(ending) ? 'error' : ending
  }

  /** Without a candidate, a block is all the answer that there will be. */
  #checkBlock({ promptFeedback }: WireObject): void {
    const isBlocked = blockOf(recordOf(promptFeedback)['blockReason']) !== undefined
    if (isBlocked && this.#wireReason === undefined) throw new InBandFailure({ promptFeedback })
  }

  #emit(contents: readonly Content[], updates: ChatResponseUpdate[]): void {
    for (const content of contents) {
      this.#sign(updates)
      const isText = content.type === 'text'
      this.#text = isText ? this.#text + content.text : ''
      this.#hasText = isText
      if (content.type !== 'reasoning') this.#thoughtId = undefined
      this.#tell(isText ? content : { ...content, origin: this.#origin }, updates)
    }
  }

  #tell(content: Content, updates: ChatResponseUpdate[]): void {
    updates.push({ contents: [content], messageId: this.#messageId })
  }
}

/** Returns true for a part that says nothing, though it may sign what was said. */
function isBlank(part: WireObject): boolean {
  const isSilent = (part['text'] ?? '') === ''
  return isSilent && Object.keys(part).every((key) => /^(text|thought|thoughtSignature)$/.test(key))
}

function candidateOf({ candidates }: WireObject): unknown {
  const all = listOf(candidates)
  return all.find((candidate) => !recordOf(candidate)['index'])
}

function blockOf(reason: unknown): string | undefined {
  const name = stringOf(reason)
  return name?.endsWith('_UNSPECIFIED') ? undefined : name
}

function hostedName({ toolCall, toolResponse, ...part }: WireObject): string {
  const { toolType } = recordOf(toolCall ?? toolResponse)
  if (typeof toolType === 'string') return toolType.toLowerCase()
  if (part['executableCode'] !== undefined || part['codeExecutionResult'] !== undefined) {
    return 'code_execution'
  }
  if (part['thought'] === true) return 'thought'
  return Object.keys(part).find((key) => key !== 'thoughtSignature') ?? 'unknown'
}
