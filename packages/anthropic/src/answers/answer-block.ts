import type { Content } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import type { ArrivingCalls, WireObject } from '@lamella/transport'
import { listOf, recordOf, stringOf } from '@lamella/transport'
import { toAnnotation } from './to-annotation.ts'

export interface AnswerBlockInit {
  readonly wire: WireObject
  /** Two thoughts in a row are two, by their ids. */
  readonly thoughtId: string
  /** The answer's calls so far. */
  readonly calls: ArrivingCalls
  readonly origin: Origin
  /** By the id of a hosted tool's call, the tool's name. */
  readonly hostedNames: Map<unknown, string>
  /** How much text there is so far in the part that text is added to. */
  readonly textLength: () => number
}

/** One block of an answer on its way: makes contents of its pieces, each with only what is new. */
export class AnswerBlock {
  readonly isCall: boolean
  /** Its place is where it ends, or its pieces have to stand side by side: what follows must wait. */
  readonly holdsBack: boolean
  readonly #init: AnswerBlockInit
  readonly #type: string
  readonly #citations: unknown[] = []
  #hasBegun = false
  #start: number | undefined
  #json = ''
  #signature = ''
  #compacted = ''

  constructor(init: AnswerBlockInit) {
    this.#init = init
    const { wire } = init
    this.#type = stringOf(wire['type']) ?? 'unknown'
    this.isCall = this.#type === 'tool_use'
    this.holdsBack = !this.isCall && !this.#isHostedCall
    if (this.#isHostedCall) init.hostedNames.set(wire['id'], this.#hostedName)
  }

  /** Returns true if a block of this type at the same place is the same text or thought. */
  continuesAs(type: unknown): boolean {
    return type === this.#type && (type === 'text' || type === 'thinking')
  }

  /** Returns the new contents of the block, announced once more. */
  more(wire: WireObject): Content[] {
    return this.#type === 'text' ? this.#text(wire['text']) : this.#thought(wire['thinking'])
  }

  /** Returns the contents at the start of the block. Whole answers have all of them by then. */
  begin(): Content[] {
    const { wire, origin } = this.#init
    switch (this.#type) {
      case 'text':
        this.#citations.push(...listOf(wire['citations']))
        return this.#text(wire['text'])
      case 'thinking':
        this.#signature = stringOf(wire['signature']) ?? ''
        return this.#thought(wire['thinking'])
      case 'tool_use':
        return this.#startCall()
      default:
        // Shown as it works. What it did replaces it, by its id.
        return this.#isHostedCall
          ? [this.#hosted({ type: this.#type, id: wire['id'], status: 'in_progress' }, origin)]
          : []
    }
  }

  /** Returns the new contents of a delta. */
  delta(value: unknown): Content[] {
    const delta = recordOf(value)
    switch (delta['type']) {
      case 'text_delta':
        return this.#text(delta['text'])
      case 'thinking_delta':
        return this.#thought(delta['thinking'])
      case 'signature_delta':
        this.#signature += stringOf(delta['signature']) ?? ''
        return []
      case 'citations_delta':
        this.#citations.push(delta['citation'])
        return []
      case 'compaction_delta':
        this.#compacted += stringOf(delta['content']) ?? ''
        return []
      case 'input_json_delta': {
        const piece = stringOf(delta['partial_json'])
        if (piece === undefined) return []
        if (this.isCall) return this.#addCall(piece)
        this.#json += piece
        return []
      }
      default:
        return []
    }
  }

  /** Returns the contents that are known only when the block is complete. */
  finish(): Content[] {
    const { wire, origin, thoughtId, textLength } = this.#init
    switch (this.#type) {
      case 'text': {
        const end = textLength()
        const start = Math.min(this.#start ?? end, end)
        const annotations = this.#citations.map((citation) => toAnnotation(citation, start, end))
        return annotations.length > 0 ? [{ type: 'text', text: '', annotations }] : []
      }
      case 'thinking':
        return this.#signature === ''
          ? []
          : [{ type: 'reasoning', text: '', id: thoughtId, protected: this.#signature, origin }]
      case 'redacted_thinking': {
        const sealed = stringOf(wire['data'])
        const providerData = { type: this.#type }
        return sealed === undefined
          ? []
          : [
              {
                type: 'reasoning',
                text: '',
                id: thoughtId,
                protected: sealed,
                origin,
                providerData,
              },
            ]
      }
      case 'tool_use':
        return this.#init.calls.endAt(this, origin)
      default:
        return [this.#hosted(this.#whole(), origin)]
    }
  }

  #text(text: unknown): Content[] {
    const piece = stringOf(text)
    if (piece === undefined) return []
    this.#start ??= this.#init.textLength()
    return [{ type: 'text', text: piece, ...this.#first() }]
  }

  #thought(text: unknown): Content[] {
    const piece = stringOf(text)
    if (piece === undefined) return []
    return [{ type: 'reasoning', text: piece, id: this.#init.thoughtId, ...this.#first() }]
  }

  /** The input stands in the block, as in a whole answer, or comes in pieces. */
  #startCall(): Content[] {
    const { wire, calls, origin } = this.#init
    const { id, name, input, caller, toolset_name: toolset } = wire
    // Calls of the model itself need not say so.
    const isDirect = caller == null || recordOf(caller)['type'] === 'direct'
    const providerData = {
      ...(!isDirect && { caller }),
      ...(toolset != null && { toolset_name: toolset }),
    }
    const start = { place: this, id, name, isStart: true, providerData }
    return calls.add([{ ...start, arguments: input || {} }], origin)
  }

  #addCall(piece: string): Content[] {
    return this.#init.calls.add([{ place: this, arguments: piece }], this.#init.origin)
  }

  #hosted(data: WireObject, origin: Origin): Content {
    const id = this.#isHostedCall ? stringOf(data['id']) : undefined
    return {
      type: 'hosted',
      name: this.#hostedName,
      ...(id !== undefined && { id }),
      data,
      origin,
    }
  }

  /** The block with what came in pieces. */
  #whole(): WireObject {
    const { wire } = this.#init
    return {
      ...wire,
      ...(this.#json !== '' && { input: parsed(this.#json) }),
      ...(this.#compacted !== '' && { content: this.#compacted }),
    }
  }

  get #isHostedCall(): boolean {
    return this.#type.endsWith('_tool_use') && stringOf(this.#init.wire['id']) !== undefined
  }

  get #hostedName(): string {
    const { wire, hostedNames } = this.#init
    const own = this.#isHostedCall ? stringOf(wire['name']) : hostedNames.get(wire['tool_use_id'])
    return own ?? this.#type.replace(/_tool_(use|result)$/, '')
  }

  #first(): { readonly origin?: Origin } {
    if (this.#hasBegun) return {}
    this.#hasBegun = true
    return { origin: this.#init.origin }
  }
}

/** Input that is no JSON is kept as it came: it is for reading, not for running. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
