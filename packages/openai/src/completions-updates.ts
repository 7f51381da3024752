import type { ChatResponseUpdate, Content, FinishReason, Origin } from '@lamella/core'
import { createId } from '@lamella/core'
import type { WireObject } from '@lamella/core/transport'
import { InBandFailure, listOf, recordOf, stringOf } from '@lamella/core/transport'
import { CompletionCalls } from './completions-calls.ts'
import { CompletionThoughts } from './completions-thoughts.ts'
import { toUsage } from './openai-usage.ts'
import { toAnnotation, toCitations } from './to-annotation.ts'
import type { AnswerMapper, MapperContext } from './answer-mapper.ts'
import { ignoredOptions } from './answer-mapper.ts'
import { isoTime } from './iso-time.ts'

/** Where servers put their thinking. The first that is there counts: some send the same in two. */
const thoughtFields = ['reasoning_content', 'reasoning'] as const

/**
 * Makes updates of the chunks of Chat Completions, and of a whole completion by the same code. Of
 * several choices, only the first is read.
 */
export class CompletionsUpdates implements AnswerMapper {
  /** Usage comes after the answer: only `[DONE]` or the end of the body says that nothing follows. */
  readonly isOver = false
  readonly #context: MapperContext
  readonly #calls = new CompletionCalls()
  readonly #thoughts = new CompletionThoughts()
  #origin: Origin
  #messageId = ''
  #responseId: string | undefined
  #model: string | undefined
  #finishReason: FinishReason | undefined
  #hasBegun = false
  #hasFinalUsage = false
  #hasSaid = false
  #hasRefused = false

  constructor(context: MapperContext) {
    this.#context = context
    this.#origin = { provider: context.provider, ...(context.model && { model: context.model }) }
  }

  /** Not all servers give a reason; `[DONE]` and the count of usage come after the answer, too. */
  end(hasDoneMarker: boolean): boolean {
    const isEnded = hasDoneMarker || this.#finishReason !== undefined || this.#hasFinalUsage
    return this.#hasBegun && isEnded
  }

  /** Appends the updates of a completion that came in one piece. */
  whole(completion: WireObject, updates: ChatResponseUpdate[]): void {
    const choice = recordOf(firstChoice(completion))
    this.#begin(completion, updates)
    if (choice['error']) throw new InBandFailure(choice['error'])
    this.#delta(recordOf(choice['message']), updates)
    this.#facts(completion, choice, updates)
  }

  map(value: unknown, updates: ChatResponseUpdate[]): void {
    const chunk = recordOf(value)
    const choice = recordOf(firstChoice(chunk))
    if (!this.#hasBegun) {
      // Azure sends the verdict on the prompt first, in a chunk without id and choice.
      if (stringOf(chunk['id']) === undefined && listOf(chunk['choices']).length === 0) {
        return this.#extras(chunk, updates)
      }
      this.#begin(chunk, updates)
    }
    this.#delta(recordOf(choice['delta']), updates)
    const { finish_reason: finish, error } = choice
    if (error) throw new InBandFailure(error)
    if (chunk['usage'] && listOf(chunk['choices']).length === 0) this.#hasFinalUsage = true
    if (finish || chunk['usage']) this.#facts(chunk, choice, updates)
    else this.#extras(chunk, updates)
  }

  #begin(payload: WireObject, updates: ChatResponseUpdate[]): void {
    this.#hasBegun = true
    this.#responseId = stringOf(payload['id'])
    this.#messageId = this.#responseId ?? createId('msg')
    this.#model = stringOf(payload['model'])
    if (this.#origin.model === undefined && this.#model) {
      this.#origin = { ...this.#origin, model: this.#model }
    }
    const createdAt = isoTime(payload['created'])
    updates.push({
      contents: [],
      role: 'assistant',
      messageId: this.#messageId,
      origin: this.#origin,
      ...(this.#responseId && { responseId: this.#responseId }),
      ...(this.#model && { model: this.#model }),
      ...(createdAt && { createdAt }),
    })
  }

  #delta(delta: WireObject, updates: ChatResponseUpdate[]): void {
    const { content, refusal, tool_calls: calls, function_call: legacy, audio, annotations } = delta
    for (const field of thoughtFields) {
      const thought = delta[field]
      if (typeof thought === 'string' && thought !== '') {
        this.#think(thought, field, updates)
        break
      }
    }
    if (delta['reasoning_details']) this.#thoughts.keepDetails(delta['reasoning_details'])
    if (typeof content === 'string') this.#say(content, updates)
    else if (content) this.#sayParts(listOf(content), updates)
    if (typeof refusal === 'string' && refusal !== '') {
      this.#hasRefused = true
      this.#emit(updates, { type: 'refusal', text: refusal })
    }
    if (calls || legacy) {
      for (const call of this.#calls.add(calls ?? [{ function: legacy }], this.#origin)) {
        this.#endThought(updates)
        this.#emit(updates, call)
      }
    }
    if (audio) this.#hear(recordOf(audio), updates)
    if (annotations)
      this.#cite(
        listOf(annotations).map((annotation) => toAnnotation(annotation)),
        updates,
      )
    const cited = this.#context.annotationsOf?.(delta)
    if (cited !== undefined) this.#cite(cited, updates)
  }

  #say(text: string, updates: ChatResponseUpdate[]): void {
    if (text === '') return
    if (this.#hasSaid) {
      updates.push({ contents: [{ type: 'text', text }], messageId: this.#messageId })
      return
    }
    this.#hasSaid = true
    this.#endThought(updates)
    this.#emit(updates, { type: 'text', text, origin: this.#origin })
  }

  /** Mistral answers in parts, its thinking among them. */
  #sayParts(parts: readonly unknown[], updates: ChatResponseUpdate[]): void {
    for (const value of parts) {
      const part = recordOf(value)
      if (part['type'] === 'thinking') {
        for (const thought of listOf(part['thinking'])) {
          this.#think(stringOf(recordOf(thought)['text']) ?? '', undefined, updates)
        }
      } else if (part['type'] === 'refusal') {
        this.#delta({ refusal: part['refusal'] }, updates)
      } else {
        this.#say(stringOf(part['text']) ?? '', updates)
      }
    }
  }

  #think(text: string, field: string | undefined, updates: ChatResponseUpdate[]): void {
    if (text === '') return
    this.#emit(updates, this.#thoughts.add(text, field, this.#messageId, this.#origin))
  }

  #endThought(updates: ChatResponseUpdate[]): void {
    const end = this.#thoughts.end(this.#messageId, this.#origin)
    if (end !== undefined) this.#emit(updates, end)
  }

  #hear(
    { id, data, transcript, expires_at: expiresAt }: WireObject,
    updates: ChatResponseUpdate[],
  ): void {
    const bytes = stringOf(data)
    const said = stringOf(transcript)
    if (bytes === undefined && said === undefined) return
    this.#emit(updates, {
      type: 'data',
      mediaType: `audio/${this.#context.audioFormat ?? '*'}`,
      data: bytes ?? '',
      origin: this.#origin,
      ...(said !== undefined && { metadata: { transcript: said } }),
      providerData: { type: 'audio', itemId: id, expiresAt },
    })
  }

  #cite(annotations: Content['annotations'] & object, updates: ChatResponseUpdate[]): void {
    if (annotations.length > 0) this.#emit(updates, { type: 'text', text: '', annotations })
  }

  /** What is known of the response as a whole: each when it is told. */
  #facts(payload: WireObject, choice: WireObject, updates: ChatResponseUpdate[]): void {
    const finish = stringOf(choice['finish_reason'])
    if (finish !== undefined) {
      this.#finishReason = this.#toFinishReason(finish)
      this.#endThought(updates)
    }
    const usage = toUsage(payload['usage'])
    const responseId = stringOf(payload['id'])
    const model = stringOf(payload['model'])
    const tier = stringOf(payload['service_tier'])
    if (finish !== undefined) this.#cite(toCitations(payload['citations']), updates)
    const metadata = {
      ...(tier && { serviceTier: tier }),
      ...(finish !== undefined && ignoredOptions(this.#context)),
    }
    updates.push({
      contents: [],
      ...(responseId && responseId !== this.#responseId && { responseId }),
      ...(model && model !== this.#model && { model }),
      ...(finish !== undefined && { finishReason: this.#finishReason }),
      ...(usage && { usage }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    })
    this.#extras(payload, updates)
  }

  #extras(payload: WireObject, updates: ChatResponseUpdate[]): void {
    const metadata = this.#context.metadataOf?.(payload)
    if (metadata !== undefined) updates.push({ contents: [], metadata })
  }

  #toFinishReason(reason: string): FinishReason {
    switch (reason) {
      case 'length':
        return 'length'
      case 'content_filter':
        return 'content-filter'
      case 'tool_calls':
      case 'function_call':
        return 'tool-calls'
      case 'stop':
        // A call that was asked for by name ends with `stop`.
        if (this.#calls.count > 0) return 'tool-calls'
        return this.#hasRefused ? 'refusal' : 'stop'
      default:
        return reason
    }
  }

  #emit(updates: ChatResponseUpdate[], content: Content): void {
    updates.push({ contents: [content], messageId: this.#messageId })
  }
}

function firstChoice({ choices }: WireObject): unknown {
  const all = listOf(choices)
  return all.length < 2
    ? recordOf(all[0])['index']
      ? undefined
      : all[0]
    : all.find((choice) => !recordOf(choice)['index'])
}
