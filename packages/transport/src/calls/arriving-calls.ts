import { createId } from '@lamella/core'
import type { WireObject } from '../wire/wire.ts'
import { defined, stringOf } from '../wire/wire.ts'
import type { FunctionCallContent } from '@lamella/core'
import type { Origin } from '@lamella/core/authoring'
import { TransportFault } from '../failures/transport-fault.ts'
import { ownArguments } from '../schemas/adapt-schema.ts'
import type { ArgumentAliases } from '../schemas/fit-tools.ts'
import { ArrivingArguments, plain } from './arriving-arguments.ts'

/** A piece of a call in the words of a provider. Fields may be absent, null or empty. */
export interface CallPiece {
  /** Place of the call in the answer, such as an index. */
  readonly place: unknown
  /** Id of the call. */
  readonly id?: unknown
  /** Name of the tool, or a piece of it. */
  readonly name?: unknown
  /** Piece of the arguments: JSON text, or a value that servers send instead. */
  readonly arguments?: unknown
  /** True if `arguments` are all arguments of the call at this place. @default false */
  readonly isWhole?: boolean | undefined
  /** True if the call begins here, with all of its name: it is told at once. @default false */
  readonly isStart?: boolean | undefined
  /** True if the arguments are free text. @default false */
  readonly isFreeText?: boolean | undefined
  /** Data of the provider for the call. */
  readonly providerData?: WireObject | undefined
}

interface Call {
  readonly place: unknown
  readonly wireId: string | undefined
  readonly callId: string
  readonly index: number
  readonly args: ArrivingArguments
  /** The call with the same id before it. This one may repeat it, which is known at the end. */
  readonly first: Call | undefined
  name: string
  freeText: string | undefined
  data: WireObject
  isTold: boolean
}

/** The calls at one place: some servers give all of theirs the same. */
interface Place {
  readonly byId: Map<string, Call>
  last: Call
}

/**
 * Puts calls together from the pieces that a provider sends. Servers repeat and change places, ids
 * and names, and send names in pieces and arguments twice. No argument is lost, no two calls are
 * merged, and each call has an id of its own. The provider's id is in `providerData.callId`. A call
 * with the id, name and arguments of one before it is the same call.
 *
 * @example
 * ```ts
 * import { ArrivingCalls } from '@lamella/transport'
 *
 * const calls = new ArrivingCalls(['look_up'])
 * const origin = { provider: 'my-server' }
 * const contents = [
 *   ...calls.add([{ place: 0, id: 'call_1', name: 'look_up', arguments: '{"word":' }], origin),
 *   ...calls.add([{ place: 0, arguments: '"lamella"}' }], origin),
 *   ...calls.end(origin),
 * ]
 * ```
 */
export class ArrivingCalls {
  readonly #calls: Call[] = []
  readonly #places = new Map<unknown, Place>()
  readonly #byId = new Map<string, Call>()
  readonly #toolNames: readonly string[]
  readonly #aliases: ArgumentAliases

  /**
   * Takes the names of the tools in the request, by which a name in pieces is known. Arguments of a
   * tool with `aliases` are told when they are complete, with the tool's own names of properties.
   */
  constructor(toolNames: readonly string[] = [], aliases: ArgumentAliases = new Map()) {
    this.#toolNames = toolNames
    this.#aliases = aliases
  }

  /** Number of calls so far, without those that may repeat another one. */
  get count(): number {
    return this.#calls.filter((call) => call.name !== '' && (call.isTold || !call.first)).length
  }

  /** False while a call lacks its name, or its arguments are JSON that has begun and not ended. */
  get areComplete(): boolean {
    return this.#calls.every((call) => !isNameless(call) && !call.args.isOpen)
  }

  /** Takes in the pieces of one event, and returns what is certain now. */
  add(pieces: readonly CallPiece[], origin: Origin): FunctionCallContent[] {
    const seen = new Set<Call>()
    return pieces.flatMap((piece) => {
      const id = stringOf(piece.id)
      const name = stringOf(piece.name)
      const text = textOf(piece.arguments)
      if (id === undefined && name === undefined && text === '') return []
      let call = this.#known(piece, { id, name, text }, seen)
      const before: FunctionCallContent[] = []
      if (call === undefined) {
        before.push(...this.#announced(this.#calls.at(-1), origin))
        call = this.#open(piece.place, id)
      }
      seen.add(call)
      call.name = nameOf(call, name, piece.isWhole)
      call.data = { ...call.data, ...piece.providerData }
      if (piece.isFreeText) call.freeText ??= ''
      const rest = taken(call, text, piece.isWhole)
      const hasBegun = piece.isStart || (call.freeText ?? call.args.text) !== ''
      const mayTell = hasBegun && call.first === undefined && !this.#aliases.has(call.name)
      return mayTell ? [...before, ...told(call, rest, origin)] : before
    })
  }

  /** Returns what was held back of the call at a place that nothing more comes for. */
  endAt(place: unknown, origin: Origin): FunctionCallContent[] {
    const call = this.#places.get(place)?.last
    if (call === undefined || call.first !== undefined) return []
    return this.#complete(call, call.args.end(), origin)
  }

  /**
   * Returns what was held back until the answer ended.
   * @throws TransportFault for arguments that no piece named a tool for
   */
  end(origin: Origin): FunctionCallContent[] {
    const known = new Set<string>()
    return this.#calls.flatMap((call) => {
      if (isNameless(call)) {
        throw new TransportFault('server', 'arguments came for a tool call without a name')
      }
      const rest = call.args.end()
      const { wireId, first, name, place } = call
      if (wireId !== undefined) {
        const args = call.freeText ?? plain(call.args.text)
        const fingerprint = JSON.stringify([wireId, name, args])
        const isSamePlace = first?.place === place && first?.name === name
        if (known.has(fingerprint) || (isSamePlace && args === '{}')) return []
        known.add(fingerprint)
      }
      return this.#complete(call, rest, origin)
    })
  }

  #complete(call: Call, rest: string, origin: Origin): FunctionCallContent[] {
    const aliases = this.#aliases.get(call.name)
    return told(call, rest, origin).map((content) =>
      aliases === undefined
        ? content
        : { ...content, arguments: ownArguments(content.arguments, aliases) },
    )
  }

  /** The call that a piece continues, if it does not begin another one. */
  #known(
    { place, isWhole }: CallPiece,
    { id, name, text }: { id: string | undefined; name: string | undefined; text: string },
    seen: ReadonlySet<Call>,
  ): Call | undefined {
    const here = this.#places.get(place)
    if (isWhole && here !== undefined) return here.last
    const sameId = id === undefined ? undefined : here?.byId.get(id)
    if (sameId !== undefined) {
      const isOther =
        this.#isOtherName(sameId, name) || (name !== undefined && sameId.args.isComplete)
      return isOther ? undefined : sameId
    }
    const elsewhere = name === undefined && id !== undefined ? this.#byId.get(id) : undefined
    const last = here?.last ?? elsewhere
    // Without a name, it can only continue: Poolside sends one id with the name, another with the rest.
    if (last === undefined || name === undefined || last.name === '') return last
    if (this.#isOtherName(last, name) || seen.has(last)) return undefined
    // A server that gives ids gives one to another call, too.
    if (id === undefined && last.wireId !== undefined) return last
    // Google gives parallel calls one index, vLLM every fragment an id and the name: what tells them
    // apart is whether the arguments are complete.
    if (last.args.isComplete || last.args.isEmptyObject) return undefined
    const isOtherId = id !== undefined && last.wireId !== undefined
    return isOtherId && !last.args.hasBegun && isWholeObject(text) ? undefined : last
  }

  /** The start of a call without arguments so far, so that it stands in front of the next one. */
  #announced(call: Call | undefined, origin: Origin): FunctionCallContent[] {
    if (call === undefined || call.first !== undefined || call.isTold) return []
    if (this.#aliases.has(call.name)) return []
    const mayGoOn = this.#toolNames.some((each) => each !== call.name && each.startsWith(call.name))
    return mayGoOn ? [] : told(call, '', origin)
  }

  /** Tells if a name is that of another call, and neither a repetition nor a piece of this one's. */
  #isOtherName({ name: known, args }: Call, name: string | undefined): boolean {
    if (name === undefined || known === '' || name === known) return false
    if (args.hasBegun) return true
    const joined = joinedName(known, name)
    return !this.#toolNames.some((each) => each.startsWith(joined))
  }

  #open(place: unknown, wireId: string | undefined): Call {
    const call: Call = {
      place,
      wireId,
      callId: createId('call'),
      index: this.#calls.length,
      args: new ArrivingArguments(),
      first: wireId === undefined ? undefined : this.#byId.get(wireId),
      name: '',
      freeText: undefined,
      data: {},
      isTold: false,
    }
    this.#calls.push(call)
    const here = this.#places.get(place) ?? { byId: new Map(), last: call }
    here.last = call
    this.#places.set(place, here)
    if (wireId !== undefined) {
      here.byId.set(wireId, call)
      if (call.first === undefined) this.#byId.set(wireId, call)
    }
    return call
  }
}

/** Adds text to a call, and returns the part of it that can be told. */
function taken(call: Call, text: string, isWhole = false): string {
  const { freeText, args } = call
  if (freeText === undefined) return isWhole ? args.addWhole(text) : args.add(text)
  const rest = !isWhole ? text : text.startsWith(freeText) ? text.slice(freeText.length) : ''
  call.freeText += rest
  return rest
}

/** The call with all of its fields the first time, and later what is new of its arguments. */
function told(call: Call, rest: string, origin: Origin): FunctionCallContent[] {
  const { callId, name, index, args, freeText, data, wireId } = call
  if (name === '') return []
  const fields = { type: 'function-call', callId, name, index } as const
  if (call.isTold) return rest === '' ? [] : [{ ...fields, arguments: rest }]
  call.isTold = true
  const providerData = defined({ callId: wireId, ...data })
  const isKnown = Object.keys(providerData).length > 0
  const all = freeText ?? args.text
  return [{ ...fields, arguments: all, origin, ...(isKnown && { providerData }) }]
}

/** Arguments as text: only an absent or empty value has none. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

/** Servers send a name in pieces, or with each fragment, or its beginning and then all of it. */
function joinedName(known: string, piece: string): string {
  return piece.startsWith(known) ? piece : known + piece
}

function nameOf({ name: known, isTold }: Call, piece = '', isWhole = false): string {
  if (isTold || piece === '') return known
  return isWhole ? piece : joinedName(known, piece)
}

function isWholeObject(text: string): boolean {
  const args = new ArrivingArguments()
  args.add(text)
  return args.isComplete
}

function isNameless({ name, args, freeText }: Call): boolean {
  return name === '' && (args.hasBegun || Boolean(freeText))
}
