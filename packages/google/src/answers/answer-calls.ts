import type { FunctionCallContent } from '@lamella/core'
import { createId } from '@lamella/core'
import type { WireObject } from '@lamella/transport'
import { stringOf, TransportFault } from '@lamella/transport'

interface OpenCall {
  readonly content: FunctionCallContent
  /** Google's own id. */
  readonly wireId: string | undefined
}

/**
 * Makes the calls of an answer of its parts. Google sends the arguments of a call as one object; gateways
 * send the name first, and the arguments with a later part without a name.
 */
export class AnswerCalls {
  /** Calls so far. */
  count = 0
  readonly #names: ReadonlyMap<string, string>
  readonly #ids = new Set<string>()
  readonly #told = new Set<string>()
  /** The call whose arguments may still come. */
  #open: OpenCall | undefined

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names
  }

  /** Takes in a `functionCall`. Returns what is complete by then. */
  add(wire: WireObject, signature: string | undefined): readonly FunctionCallContent[] {
    const { id, name, args, partialArgs, willContinue } = wire
    if (partialArgs !== undefined || willContinue === true) {
      const words = 'arguments of a tool call came in parts, which are requested nowhere'
      throw new TransportFault('server', words, { retryable: false })
    }
    const wireName = stringOf(name)
    const open = this.#open
    if (wireName === undefined) {
      if (args === undefined && open !== undefined) return this.settle()
      if (open === undefined) {
        throw new TransportFault('server', 'arguments came for a tool call that was not announced')
      }
      this.#open = undefined
      return this.#tell({ ...open, content: { ...open.content, arguments: textOf(args) } })
    }
    const done = this.settle()
    const wireId = stringOf(id)
    const providerData = {
      ...(wireId !== undefined && { id: wireId }),
      ...(signature !== undefined && { thoughtSignature: signature }),
    }
    const begun: OpenCall = {
      wireId,
      content: {
        type: 'function-call',
        callId: wireId !== undefined && !this.#ids.has(wireId) ? wireId : createId('call'),
        name: this.#names.get(wireName) ?? wireName,
        arguments: textOf(args),
        index: this.count,
        ...(Object.keys(providerData).length > 0 && { providerData }),
      },
    }
    if (hasArguments(args)) return [...done, ...this.#tell(begun)]
    this.#open = begun
    return done
  }

  /** Returns the call whose arguments did not come: it has none. */
  settle(): readonly FunctionCallContent[] {
    const open = this.#open
    this.#open = undefined
    return open === undefined ? [] : this.#tell(open)
  }

  /** An exact repetition of a call with its id is the same call. */
  #tell({ content, wireId }: OpenCall): readonly FunctionCallContent[] {
    if (wireId !== undefined) {
      const key = JSON.stringify([wireId, content.name, content.arguments])
      if (this.#told.has(key)) return []
      this.#told.add(key)
      this.#ids.add(wireId)
    }
    this.count++
    return [content]
  }
}

function hasArguments(args: unknown): boolean {
  return typeof args === 'object' && args !== null ? Object.keys(args).length > 0 : args != null
}

/** Some gateways send the arguments as text. */
function textOf(args: unknown): string {
  return typeof args === 'string' ? args : JSON.stringify(args ?? {})
}
