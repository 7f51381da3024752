import type { FunctionCallContent } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { createId } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { recordOf, stringOf, TransportFault } from '@lamella/transport'
import { JsonProgress } from './json-progress.ts'

interface Call {
  readonly wireIndex: unknown
  readonly wireId: string | undefined
  readonly callId: string
  readonly index: number
  readonly progress: JsonProgress
  name: string
  isFreeText: boolean
  /** Arguments that arrived before the name. */
  held: string
  isEmitted: boolean
}

interface Fragment {
  readonly wireIndex: unknown
  readonly wireId: string | undefined
  readonly name: string | undefined
  readonly text: string
}

/**
 * Assigns the fragments of tool calls to their calls. Servers repeat and change indexes, ids and
 * names; no argument is lost, and no two calls are merged.
 */
export class CompletionCalls {
  readonly #calls: Call[] = []

  get count(): number {
    return this.#calls.filter(({ isEmitted }) => isEmitted).length
  }

  /** False while a call lacks its name, or its arguments are JSON that has begun and not ended. */
  get areComplete(): boolean {
    return this.#calls.every(
      (call) => !isNameless(call) && (call.isFreeText || !call.progress.isOpen),
    )
  }

  add(fragments: unknown, origin: Origin): FunctionCallContent[] {
    const contents: FunctionCallContent[] = []
    const seen = new Set<Call>()
    // Old servers send one call without the list around it.
    const list = Array.isArray(fragments) ? fragments : [fragments]
    for (const [position, value] of list.entries()) {
      const content = this.#addOne(recordOf(value), position, origin, seen)
      if (content !== undefined) contents.push(content)
    }
    return contents
  }

  /** @throws TransportFault for arguments of which no fragment named the tool */
  checkNames(): void {
    if (this.#calls.some(isNameless)) {
      throw new TransportFault('server', 'arguments came for a tool call without a name')
    }
  }

  #addOne(
    wire: WireObject,
    position: number,
    origin: Origin,
    seen: Set<Call>,
  ): FunctionCallContent | undefined {
    const { id, type, index, function: asked, custom, ...extra } = wire
    // Servers also send the field that they do not use, empty or null.
    const isCustom = isFilled(custom) ? !isFilled(asked) : type === 'custom' && !isFilled(asked)
    const part = recordOf(isCustom ? custom : asked)
    const args = part['input'] ?? part['arguments']
    const fragment: Fragment = {
      wireIndex: index ?? position,
      wireId: stringOf(id),
      name: stringOf(part['name']),
      // Some servers send the arguments as an object.
      text: typeof args === 'string' ? args : args ? JSON.stringify(args) : '',
    }
    const { wireId, name, text } = fragment
    if (wireId === undefined && name === undefined && text === '') return undefined

    const call = this.#known(fragment, seen) ?? this.#open(fragment)
    seen.add(call)
    call.isFreeText ||= isCustom
    call.name ||= name ?? ''
    call.progress.add(text)
    const at = { callId: call.callId, name: call.name, index: call.index }
    if (call.isEmitted) {
      return text === '' ? undefined : { type: 'function-call', ...at, arguments: text }
    }
    call.held += text
    if (call.name === '') return undefined
    call.isEmitted = true
    const providerData = {
      ...(call.isFreeText && { type: 'custom' }),
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

  /** The call that a fragment continues, if it does not begin another one. */
  #known(fragment: Fragment, seen: ReadonlySet<Call>): Call | undefined {
    const { wireIndex, wireId, name } = fragment
    const here = this.#calls.filter((call) => call.wireIndex === wireIndex)
    const sameId = wireId && here.findLast((call) => call.wireId === wireId)
    if (sameId) return isOtherName(sameId, name) ? undefined : sameId
    const last =
      here.at(-1) ?? this.#calls.findLast((call) => !name && wireId && wireId === call.wireId)
    // Without a name, it can only continue: Poolside sends one id with the name, another with the rest.
    if (last === undefined || name === undefined || last.name === '') return last
    if (isOtherName(last, name) || seen.has(last)) return undefined
    // Google gives parallel calls one index, vLLM every fragment an id and the name: what tells them
    // apart is whether the arguments so far are complete.
    return last.progress.isComplete ? undefined : last
  }

  #open({ wireIndex, wireId }: Fragment): Call {
    const call: Call = {
      wireIndex,
      wireId,
      callId: wireId ?? createId('call'),
      index: this.#calls.length,
      progress: new JsonProgress(),
      name: '',
      isFreeText: false,
      held: '',
      isEmitted: false,
    }
    this.#calls.push(call)
    return call
  }
}

function isNameless({ name, held }: Call): boolean {
  return name === '' && held !== ''
}

function isFilled(part: unknown): boolean {
  const { name, input, arguments: args } = recordOf(part)
  return Boolean(name || input || args)
}

function isOtherName(call: Call, name: string | undefined): boolean {
  return name !== undefined && call.name !== '' && name !== call.name
}
