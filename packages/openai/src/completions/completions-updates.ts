import type {
  ChatResponseUpdate,
  Content,
  FinishReason,
  FunctionCallContent,
  Usage,
} from '@lamella/core'
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
import type { ChatDialect } from '../dialects/chat-dialect.ts'
import { callPieces } from './completions-calls.ts'
import { CompletionThoughts } from './completions-thoughts.ts'
import { toUsage, withoutZeros } from '../answers/openai-usage.ts'
import { toAnnotation, toCitations } from '../answers/to-annotation.ts'
import type { MapperContext } from '../answers/answer-mapper.ts'
import { requestNotes } from '../answers/answer-mapper.ts'
import { isoTime } from '../answers/iso-time.ts'
import type { TaggedPiece } from './thinking-tags.ts'
import { ThinkingTags } from './thinking-tags.ts'

/** Fields in which servers put their thinking. The first that is there counts: some send the same in two. */
const thoughtFields = ['reasoning_content', 'reasoning'] as const

/**
 * Makes updates of the chunks of Chat Completions, and of a whole completion by the same code. Of
 * several choices, only the first is read.
 */
export class CompletionsUpdates implements AnswerMapper {
  /** Usage comes after the answer: only `[DONE]` or the end of the body says that nothing follows. */
  readonly isOver = false
  readonly #context: MapperContext
  readonly #calls: ArrivingCalls
  readonly #thoughts = new CompletionThoughts()
  #origin: Origin
  #messageId = ''
  #responseId: string | undefined
  #model: string | undefined
  #finishReason: FinishReason | undefined
  #hasBegun = false
  #hasChoice = false
  #hasFinalUsage = false
  #usage: Usage = {}
  #hasSaid = false
  #hasRefused = false
  readonly #logProbs: unknown[] = []
  readonly #dialect: ChatDialect
  readonly #tags: ThinkingTags

  constructor(context: MapperContext, dialect: ChatDialect) {
    this.#context = context
    this.#calls = new ArrivingCalls(context.toolNames, context.aliases)
    this.#dialect = dialect
    this.#tags = new ThinkingTags(dialect.thinkingTags, dialect.beginsInThinking)
    this.#origin = { provider: context.provider, ...(context.model && { model: context.model }) }
  }

  /** Not all servers give a reason; `[DONE]` and the count of usage come after the answer, too. */
  end(hasDoneMarker: boolean, updates: ChatResponseUpdate[]): boolean {
    if (!this.#hasChoice) return false
    if (this.#finishReason !== undefined) return true
    // Without a reason, a call that breaks off in its arguments was cut.
    const isComplete = (hasDoneMarker || this.#hasFinalUsage) && this.#calls.areComplete
    if (isComplete) this.#endCalls(updates)
    return isComplete
  }

  /** Appends the updates of a completion that came in one piece. */
  whole(completion: WireObject, updates: ChatResponseUpdate[]): void {
    const found = firstChoice(completion)
    const choice = recordOf(found)
    this.#begin(completion, updates)
    if (found === undefined && !completion['error']) {
      throw new TransportFault('server', 'the answer has no choice')
    }
    this.#delta(recordOf(choice['message']), updates)
    this.#logProbs.push(...listOf(recordOf(choice['logprobs'])['content']))
    this.#endCalls(updates)
    this.#facts(completion, choice, updates)
    const error = completion['error'] || choice['error']
    if (error) throw new InBandFailure(error)
    checkFinish(choice)
  }

  map(value: unknown, updates: ChatResponseUpdate[]): void {
    const chunk = recordOf(value)
    const found = firstChoice(chunk)
    const choice = recordOf(found)
    this.#hasChoice ||= found !== undefined
    if (!this.#hasBegun) {
      // Azure sends the verdict on the prompt first, in a chunk without id and choice.
      if (stringOf(chunk['id']) === undefined && listOf(chunk['choices']).length === 0) {
        return this.#extras(chunk, updates)
      }
      this.#begin(chunk, updates)
    }
    this.#delta(recordOf(choice['delta']), updates)
    this.#logProbs.push(...listOf(recordOf(choice['logprobs'])['content']))
    const { finish_reason: finish, error } = choice
    if (error) throw new InBandFailure(error)
    const usage = chunk['usage'] ?? groqUsage(chunk)
    if (usage && listOf(chunk['choices']).length === 0) this.#hasFinalUsage = true
    if (finish || usage) this.#facts(chunk, choice, updates)
    else this.#extras(chunk, updates)
    checkFinish(choice)
  }

  #begin(payload: WireObject, updates: ChatResponseUpdate[]): void {
    this.#hasBegun = true
    this.#responseId = stringOf(payload['id'])
    this.#messageId = this.#responseId ?? createId('msg')
    this.#model = stringOf(payload['model'])
    if (this.#origin.model === undefined && this.#model) {
      this.#origin = { ...this.#origin, model: this.#model }
    }
    updates.push({
      contents: [],
      role: 'assistant',
      messageId: this.#messageId,
      origin: this.#origin,
      ...defined({
        responseId: this.#responseId,
        model: this.#model,
        createdAt: isoTime(payload['created']),
      }),
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
    if (typeof content === 'string') this.#hearText(content, updates)
    else if (content) this.#sayParts(listOf(content), updates)
    if (typeof refusal === 'string' && refusal !== '') {
      this.#hasRefused = true
      this.#emit(updates, { type: 'refusal', text: refusal })
    }
    if (calls || legacy) {
      const pieces = callPieces(calls ?? [{ function: legacy }])
      this.#call(this.#calls.add(pieces, this.#origin), updates)
    }
    for (const image of listOf(delta['images'])) this.#show(recordOf(image), updates)
    const { extra_content: extraContent } = delta
    if (extraContent && !calls) {
      this.#emit(updates, { type: 'text', text: '', providerData: { extraContent } })
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

  #call(calls: readonly FunctionCallContent[], updates: ChatResponseUpdate[]): void {
    for (const call of calls) {
      this.#endThought(updates)
      this.#emit(updates, call)
    }
  }

  #endCalls(updates: ChatResponseUpdate[]): void {
    this.#call(this.#calls.end(this.#origin), updates)
  }

  #hearText(text: string, updates: ChatResponseUpdate[]): void {
    if (this.#tags.isOver) this.#say(text, updates)
    else this.#tell(this.#tags.add(text), updates)
  }

  #tell(pieces: readonly TaggedPiece[], updates: ChatResponseUpdate[]): void {
    for (const { isThinking, text } of pieces) {
      if (isThinking) this.#think(text, undefined, updates)
      else this.#say(text, updates)
    }
  }

  /** An image that the model made, as OpenRouter sends it. */
  #show(image: WireObject, updates: ChatResponseUpdate[]): void {
    const uri = stringOf(recordOf(image['image_url'])['url'])
    if (uri === undefined) return
    const [, mediaType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(uri) ?? []
    this.#emit(
      updates,
      mediaType === undefined || data === undefined
        ? { type: 'uri', uri, mediaType: 'image/*', origin: this.#origin }
        : { type: 'data', mediaType, data, origin: this.#origin },
    )
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
          this.#think(stringOf(recordOf(thought)['text']) ?? '', 'content', updates)
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

  /** Adds facts of the whole response, each when it is reported. */
  #facts(payload: WireObject, choice: WireObject, updates: ChatResponseUpdate[]): void {
    const finish = stringOf(choice['finish_reason'])
    if (finish !== undefined) {
      this.#tell(this.#tags.rest(), updates)
      this.#endCalls(updates)
      this.#finishReason = this.#toFinishReason(finish)
      this.#endThought(updates)
    }
    const counts = toUsage(payload['usage'] ?? groqUsage(payload), this.#dialect.usage)
    const usage = withoutZeros(counts, this.#usage)
    this.#usage = { ...this.#usage, ...usage }
    const responseId = stringOf(payload['id'])
    const model = stringOf(payload['model'])
    if (finish !== undefined) this.#cite(toCitations(payload['citations']), updates)
    const metadata = {
      ...defined({
        serviceTier: stringOf(payload['service_tier']),
        logProbs: this.#logProbs.length > 0 ? this.#logProbs : undefined,
      }),
      ...(finish !== undefined && requestNotes(this.#context)),
    }
    updates.push({
      contents: [],
      ...defined({
        responseId: responseId === this.#responseId ? undefined : responseId,
        model: model === this.#model ? undefined : model,
        finishReason: finish === undefined ? undefined : this.#finishReason,
        usage,
        metadata: unlessEmpty(metadata),
      }),
    })
    this.#extras(payload, updates)
  }

  #extras(payload: WireObject, updates: ChatResponseUpdate[]): void {
    const metadata = this.#context.metadataOf?.(payload)
    if (metadata !== undefined) updates.push({ contents: [], metadata })
  }

  #toFinishReason(wireReason: string): FinishReason {
    const { finishReasons: own } = this.#dialect
    const reason = Object.hasOwn(own, wireReason) ? own[wireReason]! : wireReason
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

/** Reasons by which servers say that an answer broke off. OpenRouter has the word of its provider beside its own. */
const broken = new Set([
  'error',
  'network_error',
  'abort',
  'aborted',
  'insufficient_system_resource',
])

function checkFinish({ finish_reason: reason, native_finish_reason: native }: WireObject): void {
  for (const word of [reason, native]) {
    const code = stringOf(word)?.toLowerCase()
    if (code === undefined || !broken.has(code)) continue
    throw new InBandFailure({ code, message: `The answer broke off: ${code}.` })
  }
}

/** Groq reports the usage of a stream in a field of its own. */
function groqUsage({ x_groq: groq }: WireObject): unknown {
  return recordOf(groq)['usage']
}

function firstChoice({ choices }: WireObject): unknown {
  const all = listOf(choices)
  return all.length < 2
    ? recordOf(all[0])['index']
      ? undefined
      : all[0]
    : all.find((choice) => !recordOf(choice)['index'])
}
