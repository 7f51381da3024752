import type { FunctionCallContent, Origin } from '@lamella/core'
import { createId } from '@lamella/core'
import type { WireObject } from '@lamella/core/transport'
import { listOf, recordOf, stringOf } from '@lamella/core/transport'

interface Call {
  readonly wireIndex: unknown
  readonly wireId: string | undefined
  readonly callId: string
  readonly index: number
  name: string
  /** Arguments that came before the name. */
  held: string
  isTold: boolean
}

/** Puts the fragments of tool calls together far enough to say of which call each one is. */
export class CompletionCalls {
  readonly #calls: Call[] = []

  get count(): number {
    return this.#calls.filter(({ isTold }) => isTold).length
  }

  add(fragments: unknown, origin: Origin): FunctionCallContent[] {
    const contents: FunctionCallContent[] = []
    for (const [position, value] of listOf(fragments).entries()) {
      const content = this.#addOne(recordOf(value), position, origin)
      if (content !== undefined) contents.push(content)
    }
    return contents
  }

  #addOne(fragment: WireObject, position: number, origin: Origin): FunctionCallContent | undefined {
    const { id, type, index = position, function: wire, custom, ...extra } = fragment
    const isFreeText = type === 'custom' || custom !== undefined
    const part = recordOf(custom ?? wire)
    const name = stringOf(part['name'])
    const args = part['input'] ?? part['arguments']
    // Some servers send the arguments as an object.
    const text = typeof args === 'string' ? args : args ? JSON.stringify(args) : ''
    const wireId = stringOf(id)
    if (wireId === undefined && name === undefined && text === '') return undefined

    const call = this.#call(index, wireId)
    const { callId } = call
    const at = { callId, name: (call.name ||= name ?? ''), index: call.index }
    if (call.isTold) {
      return text === '' ? undefined : { type: 'function-call', ...at, arguments: text }
    }
    call.held += text
    if (call.name === '') return undefined
    call.isTold = true
    const providerData = {
      ...(isFreeText && { type: 'custom' }),
      ...(Object.keys(extra).length > 0 && { extra }),
    }
    return {
      type: 'function-call',
      ...at,
      arguments: call.held,
      origin,
      ...(Object.keys(providerData).length > 0 && { providerData }),
    }
  }

  /** Google gives parallel calls the same index and ids of their own. */
  #call(wireIndex: unknown, wireId: string | undefined): Call {
    const known = this.#calls.findLast(
      (call) =>
        call.wireIndex === wireIndex &&
        (wireId === undefined || call.wireId === undefined || call.wireId === wireId),
    )
    if (known !== undefined) return known
    const call: Call = {
      wireIndex,
      wireId,
      callId: wireId ?? createId('call'),
      index: this.#calls.length,
      name: '',
      held: '',
      isTold: false,
    }
    this.#calls.push(call)
    return call
  }
}
