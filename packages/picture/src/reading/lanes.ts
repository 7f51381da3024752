import type { PartFacts } from '../lines/line.ts'
import type { CallPicture, SeenUpdate } from './run-picture.ts'
import { innermostOf, modelCallsBefore, passesAt } from './run-picture.ts'

/** A piece of a stream at one probe. */
export interface Piece {
  readonly t: number
  /** Text of the assistant in it; empty where it was not captured. */
  readonly text: string
  /** Length of that text, in characters. */
  readonly len: number
  /** Parts of other types, such as `function-call`. */
  readonly types: readonly string[]
  /** True if a restart made it void. */
  void: boolean
}

/** Content that passed one probe of a call. */
export interface Lane {
  readonly p: number
  readonly pieces: readonly Piece[]
  /** Text that is left at the end. */
  readonly text: string
  /** Its length, which is known also where the text is not. */
  readonly len: number
}

/** A time in which text stayed inside a middleware. */
export interface HeldSpan {
  readonly from: number
  /** Missing if it never left. */
  readonly to: number | undefined
  /** Characters that were waiting at most. */
  readonly chars: number
}

/** The lanes of a call, the outermost first. */
export function lanesOf(call: CallPicture): Lane[] {
  return Array.from({ length: innermostOf(call) + 1 }, (_, p) => laneOf(call, p))
}

/** The lane at one probe. Of a run that was not streamed, it holds the result. */
export function laneOf(call: CallPicture, p: number): Lane {
  if (call.line.c === 0 && call.run.line?.stream === false) return resultLane(call, p)
  const size = call.updates.length + call.restarts.length
  const known = madeLanes.get(call)?.[p]
  if (known?.size === size) return known.lane
  const lane = makeLane(call, p)
  const made = madeLanes.get(call) ?? []
  made[p] = { size, lane }
  madeLanes.set(call, made)
  return lane
}

/** By probe, each made anew when more updates have come. */
const madeLanes = new WeakMap<CallPicture, { readonly size: number; readonly lane: Lane }[]>()

function makeLane(call: CallPicture, p: number): Lane {
  const innermost = innermostOf(call)
  const restarts = call.restarts.filter((restart) => restart.p === p)
  const pieces: { seq: number; piece: Piece }[] = []
  const voidFrom = (seq: number, from: number): void => {
    for (const entry of pieces) if (entry.seq >= from && entry.seq < seq) entry.piece.void = true
  }
  let next = 0
  for (const seen of call.updates) {
    while (next < restarts.length && restarts[next]!.seq < seen.seq)
      voidFrom(restarts[next++]!.seq, 0)
    if (!passes(seen, call, p, innermost)) continue
    const { restart } = seen.line
    if (restart !== undefined) {
      const from = restart === 'run' || call.line.c !== 0 ? 0 : modelCallsBefore(call.run, seen.seq)
      voidFrom(seen.seq, from)
    }
    pieces.push({ seq: seen.seq, piece: pieceOf(seen) })
  }
  const kept = pieces.map(({ piece }) => piece)
  let text = ''
  let len = 0
  for (const piece of kept) {
    if (piece.void) continue
    text += piece.text
    len += piece.len
  }
  return { p, pieces: kept, text, len }
}

function resultLane(call: CallPicture, p: number): Lane {
  const pass = passesAt(call, p).at(-1)
  const messages = pass?.result?.messages ?? []
  const pieces = messages.map((number): Piece => {
    const { role, parts = [] } = call.run.scope.messages.get(number) ?? {}
    return { t: pass?.out?.t ?? 0, ...contentOf(parts, role), void: false }
  })
  const text = pieces.map((piece) => piece.text).join('')
  return { p, pieces, text, len: pieces.reduce((sum, { len }) => sum + len, 0) }
}

/** Times in which text had come in from `inside` and had not left to `outside`. */
export function heldSpans(inside: Lane, outside: Lane, atLeastMs = 0.5): HeldSpan[] {
  const kept = ({ void: isVoid }: Piece): boolean => !isVoid
  const gone = ({ void: isVoid }: Piece): boolean => isVoid
  const lost = inside.pieces.filter(gone)
  const until = lost.at(-1)?.t
  return [
    // Discarded text waits no longer.
    ...spansOf(lost, outside.pieces.filter(gone), atLeastMs).map((span) => ({
      ...span,
      to: span.to ?? until,
    })),
    ...spansOf(inside.pieces.filter(kept), outside.pieces.filter(kept), atLeastMs),
  ]
}

function spansOf(
  inside: readonly Piece[],
  outside: readonly Piece[],
  atLeastMs: number,
): HeldSpan[] {
  const out = outside.filter((piece) => piece.len > 0)
  const total = out.reduce((sum, { len }) => sum + len, 0)
  const spans: { from: number; to: number | undefined; chars: number }[] = []
  let came = 0
  let left = 0
  let at = 0
  for (const { t, len } of inside) {
    if (len === 0) continue
    came += len
    while (at < out.length && left < came && out[at]!.t <= t + atLeastMs) left += out[at++]!.len
    if (left >= came || (total <= left && total > 0)) continue
    // When the text up to here had left.
    let gone = left
    let until = at
    while (until < out.length && gone < Math.min(came, total)) gone += out[until++]!.len
    const to = until > at ? out[until - 1]!.t : undefined
    const last = spans.at(-1)
    if (last !== undefined && (last.to === undefined || last.to >= t)) {
      last.to = to
      last.chars = Math.max(last.chars, came - left)
    } else spans.push({ from: t, to, chars: came - left })
  }
  return spans
}

function passes({ line }: SeenUpdate, call: CallPicture, p: number, innermost: number): boolean {
  if (line.c === call.line.c) return p <= line.p && p >= (line.to ?? line.p)
  return line.run !== undefined && p <= innermost && p >= line.run
}

function pieceOf({ line }: SeenUpdate): Piece {
  const { t, text, len, parts = [], role = 'assistant' } = line
  if (text !== undefined || len !== undefined)
    return { t, text: text ?? '', len: len ?? text?.length ?? 0, types: [], void: false }
  return { t, ...contentOf(parts, role), void: false }
}

function contentOf(
  parts: readonly PartFacts[],
  role: string | undefined,
): Pick<Piece, 'text' | 'len' | 'types'> {
  const isText = ({ type }: PartFacts): boolean => type === 'text' && role === 'assistant'
  const texts = parts.filter(isText)
  return {
    text: texts.map((part) => part.text ?? '').join(''),
    len: texts.reduce((sum, part) => sum + (part.len ?? 0), 0),
    types: parts.filter((part) => !isText(part)).map(({ type }) => type),
  }
}
