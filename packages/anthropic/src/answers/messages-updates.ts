import type { ChatResponseUpdate, Content, FinishReason } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { createId } from '@lamella/core'
import type { ArgumentAliases, EventMapper, WireObject } from '@lamella/transport'
import {
  ArrivingCalls,
  InBandFailure,
  listOf,
  recordOf,
  stringOf,
  TransportFault,
} from '@lamella/transport'
import { AnswerBlock } from './answer-block.ts'
import { mergeCounts, toUsage } from './anthropic-usage.ts'

export interface MapperContext {
  readonly provider: string
  /** As it was asked for: the name under which it will be asked again. */
  readonly model: string | undefined
  /** Names of the tools in the request. */
  readonly toolNames: readonly string[]
  /** Names of properties that the request changed, by the name of the tool. */
  readonly aliases: ArgumentAliases
  /** Options of the call that the API has no field for. */
  readonly ignored: readonly string[]
  /** Parts of the history that the request left out or changed. */
  readonly losses: readonly string[]
}

type Step = (block: AnswerBlock) => readonly Content[]

interface OpenBlock {
  readonly index: unknown
  readonly block: AnswerBlock
  /** Steps that wait for a block before this one. */
  readonly steps: Step[]
  isDone: boolean
}

/** Makes updates of the events of the Messages API, and of a whole answer by the same code. */
export class MessagesUpdates implements EventMapper {
  isOver = false
  readonly #context: MapperContext
  readonly #hostedNames = new Map<unknown, string>()
  /** The blocks that are not complete, as they began. */
  #open: OpenBlock[] = []
  #origin: Origin
  #responseId: string | undefined
  #messageId: string | undefined
  #counts: WireObject = {}
  #facts: WireObject = {}
  #hasEnded = false
  #thoughts = 0
  #calls: ArrivingCalls
  #textLength = 0
  /** Calls that have their place: what is added to them stands between no texts. */
  readonly #placed = new Set<unknown>()

  constructor(context: MapperContext) {
    this.#context = context
    this.#calls = new ArrivingCalls(context.toolNames, context.aliases)
    this.#origin = { provider: context.provider, ...(context.model && { model: context.model }) }
  }

  end(): boolean {
    return this.isOver
  }

  /** Appends the updates of an answer that came in one piece. */
  whole(message: WireObject, updates: ChatResponseUpdate[]): void {
    this.#begin(message, updates)
    this.#end(updates)
    this.isOver = true
  }

  map(value: unknown, updates: ChatResponseUpdate[]): void {
    const event = recordOf(value)
    const index = event['index']
    switch (event['type']) {
      case 'message_start':
        return this.#begin(recordOf(event['message']), updates)
      case 'content_block_start':
        return this.#start(index, recordOf(event['content_block']), updates)
      case 'content_block_delta':
        this.#startMissing(index, recordOf(event['delta']), updates)
        return this.#go(index, (block) => block.delta(event['delta']), updates)
      case 'content_block_stop':
        return this.#finish(index, updates)
      case 'message_delta': {
        const { delta, usage, ...facts } = event
        this.#learn({ ...facts, ...recordOf(delta), usage })
        return this.#end(updates)
      }
      case 'message_stop':
        if (!this.#hasEnded) this.#end(updates)
        this.isOver = true
        return
      case 'error':
        throw new InBandFailure(event)
      default:
    }
  }

  /** Answers of code that calls tools come with their content in the first event. */
  #begin(message: WireObject, updates: ChatResponseUpdate[]): void {
    const responseId = stringOf(message['id'])
    const model = stringOf(message['model'])
    // A gateway that lost its connection repeats the request and splices the second answer into the
    // stream of the first (vercel/ai#18331, 2026-08). Of the first, nothing counts.
    if (responseId && this.#responseId && responseId !== this.#responseId) this.#restart(updates)
    this.#finish(undefined, updates)
    this.#responseId = responseId ?? this.#responseId
    this.#messageId ??= responseId ?? createId('msg')
    if (this.#origin.model === undefined && model) this.#origin = { ...this.#origin, model }
    this.#learn(message)
    const usage = toUsage(this.#counts)
    updates.push({
      contents: [],
      role: 'assistant',
      messageId: this.#messageId,
      origin: this.#origin,
      ...(responseId && { responseId }),
      ...(model && { model }),
      ...(usage && { usage }),
    })
    for (const [index, wire] of listOf(message['content']).entries()) {
      this.#start(index, recordOf(wire), updates)
      this.#finish(index, updates)
    }
  }

  #restart(updates: ChatResponseUpdate[]): void {
    this.#open = []
    this.#hostedNames.clear()
    this.#placed.clear()
    this.#messageId = undefined
    this.#counts = {}
    this.#facts = {}
    this.#hasEnded = false
    this.#calls = new ArrivingCalls(this.#context.toolNames, this.#context.aliases)
    this.#thoughts = 0
    this.#textLength = 0
    updates.push({ contents: [], restart: true })
  }

  /** Starts the block of a piece whose start was not sent, as servers that resemble Anthropic's forget. */
  #startMissing(index: unknown, delta: WireObject, updates: ChatResponseUpdate[]): void {
    if (this.#open.some((open) => open.index === index && !open.isDone)) return
    const type = stringOf(delta['type']) ?? ''
    if (type === 'input_json_delta' && delta['partial_json']) {
      throw new TransportFault('server', 'arguments came for a tool call that was not announced')
    }
    const blockTypes = new Map([
      ['text_delta', 'text'],
      ['thinking_delta', 'thinking'],
    ])
    if (blockTypes.has(type)) this.#start(index, { type: blockTypes.get(type) }, updates)
  }

  #start(index: unknown, wire: WireObject, updates: ChatResponseUpdate[]): void {
    // A server that announces a text or a thought anew with each piece of it (ggml-org/llama.cpp#18551).
    const { type } = wire
    const isKnown = this.#open.some((open) => {
      return open.index === index && !open.isDone && open.block.continuesAs(type)
    })
    if (isKnown) return this.#go(index, (block) => block.more(wire), updates)
    this.#finish(index ?? null, updates)
    // From here on another model answers: the one that is paid for.
    const fallback = wire['type'] === 'fallback' && stringOf(recordOf(wire['to'])['model'])
    if (fallback) updates.push({ contents: [], model: fallback })
    const block = new AnswerBlock({
      wire,
      thoughtId: `${this.#messageId}#${this.#thoughts++}`,
      calls: this.#calls,
      origin: this.#origin,
      hostedNames: this.#hostedNames,
      textLength: () => this.#textLength,
    })
    this.#open.push({ index, block, steps: [], isDone: false })
    this.#go(index, () => block.begin(), updates)
  }

  /** Without an index: all of them, should their ends have been forgotten. */
  #finish(index: unknown, updates: ChatResponseUpdate[]): void {
    for (const open of this.#open) {
      if (open.isDone || (index !== undefined && index !== open.index)) continue
      open.isDone = true
      open.steps.push((block) => block.finish())
    }
    this.#flush(updates)
  }

  #go(index: unknown, step: Step, updates: ChatResponseUpdate[]): void {
    const open = this.#open.find((each) => each.index === index && !each.isDone)
    if (open === undefined) return
    open.steps.push(step)
    this.#flush(updates)
  }

  /**
   * Text and thoughts continue only where they stand last, so what begins beside one waits until it is
   * complete. Calls keep their place by their ids, and nobody waits for them.
   */
  #flush(updates: ChatResponseUpdate[]): void {
    let waiting = 0
    for (const { block, steps, isDone } of this.#open) {
      for (const step of steps.splice(0)) this.#emit(updates, step(block))
      if (!isDone && block.holdsBack) break
      waiting++
    }
    const flushed = this.#open.slice(0, waiting).filter(({ isDone }) => !isDone)
    this.#open = [...flushed, ...this.#open.slice(waiting)]
  }

  #learn({ usage, ...facts }: WireObject): void {
    this.#counts = mergeCounts(this.#counts, usage)
    this.#facts = mergeCounts(this.#facts, facts)
  }

  /** Adds the facts of the whole answer. Usage is reported again with each event that has some. */
  #end(updates: ChatResponseUpdate[]): void {
    this.#finish(undefined, updates)
    this.#emit(updates, this.#calls.end(this.#origin))
    const { stop_reason: reason, stop_sequence: stop, stop_details: details } = this.#facts
    const usage = toUsage(this.#counts)
    const told = stringOf(reason)
    const finishReason =
      told !== undefined && Object.hasOwn(finishReasons, told) ? finishReasons[told] : told
    const explanation = stringOf(recordOf(details)['explanation'])
    if (finishReason === 'refusal' && explanation && !this.#hasEnded) {
      this.#emit(updates, [{ type: 'refusal', text: explanation, origin: this.#origin }])
    }
    this.#hasEnded ||= finishReason !== undefined
    const metadata = {
      ...known('stopSequence', stop),
      ...known('stopDetails', details),
      ...known('container', this.#facts['container']),
      ...known('contextManagement', this.#facts['context_management']),
      ...known('serviceTier', this.#counts['service_tier']),
      ...known('iterations', this.#counts['iterations']),
      ...(this.#context.ignored.length > 0 && { ignoredOptions: this.#context.ignored }),
      ...(this.#context.losses.length > 0 && { losses: this.#context.losses }),
    }
    updates.push({
      contents: [],
      ...(finishReason && { finishReason }),
      ...(usage && { usage }),
      ...(Object.keys(metadata).length > 0 && { metadata }),
    })
  }

  #emit(updates: ChatResponseUpdate[], contents: readonly Content[]): void {
    for (const content of contents) {
      const key = keyOf(content)
      if (content.type === 'text') this.#textLength += content.text.length
      else if (key === undefined || !this.#placed.has(key)) this.#textLength = 0
      if (key !== undefined) this.#placed.add(key)
      updates.push({ contents: [content], messageId: this.#messageId })
    }
  }
}

const finishReasons: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'refusal',
}

function known(name: string, value: unknown): WireObject {
  return value == null ? {} : { [name]: value }
}

function keyOf(content: Content): unknown {
  if (content.type === 'function-call') return content.index
  return content.type === 'hosted' ? content.id : undefined
}
