import type { Usage } from '@lamella/core'
import { heldSpans, laneOf } from './lanes.ts'
import type { CallPicture, PassPicture, RunPicture } from './run-picture.ts'
import { exitOfCall, innermostOf, isPlanned, middlewareOf, passesAt } from './run-picture.ts'
import { count, errorOf, exitWords, nameOfCall } from './words.ts'

/** A time in which something worked: a middleware itself, what is inside of it, or the core. */
export interface Bar {
  readonly from: number
  readonly to: number
  readonly kind: 'own' | 'inside' | 'core'
}

/** Something to notice about a row. */
export interface Mark {
  readonly kind: 'retry' | 'answered' | 'ended' | 'failed' | 'changed' | 'held' | 'open'
  readonly text: string
}

/** A row of the onion: a run, a call, a middleware inside of it, or the provider or tool at its core. */
export interface OnionRow {
  readonly kind: 'run' | 'model' | 'tool' | 'middleware' | 'core'
  readonly name: string
  readonly call: CallPicture
  /** Position of a middleware in its call, from 0; that of the core is behind the last. */
  readonly place: number | undefined
  readonly marks: readonly Mark[]
  readonly bars: readonly Bar[]
  readonly totalMs: number
  /** Time that a middleware took for itself. */
  readonly ownMs: number | undefined
  readonly usage: Usage | undefined
  readonly cost: number | undefined
  readonly children: readonly OnionRow[]
}

/** The row of a run, with everything inside of it. */
export function onionOf(run: RunPicture): OnionRow {
  const outer = run.calls.find(({ line }) => line.c === 0)
  const calls = run.calls.filter((call) => call !== outer).map(callRow)
  if (outer === undefined) {
    const [first] = run.calls
    const bars: Bar[] = [{ from: run.start, to: run.last, kind: 'inside' }]
    const call = first ?? emptyCall(run)
    return {
      ...rowOf(call, 'run', run.line?.agent ?? 'Run'),
      bars,
      marks: [],
      totalMs: run.last - run.start,
      children: calls,
    }
  }
  // What is at the core of a run are its calls.
  const middleware = middlewareRows(outer)
  return {
    ...rowOf(outer, 'run', nameOfCall(outer)),
    usage: run.end?.usage,
    cost: run.end?.cost,
    children: [...middleware, ...calls],
  }
}

/** Rows in the order in which they are shown, with their depth from 1. */
export function flatRows(
  row: OnionRow,
  depth = 1,
): { readonly row: OnionRow; readonly depth: number }[] {
  return [{ row, depth }, ...row.children.flatMap((child) => flatRows(child, depth + 1))]
}

/** Usage and cost of a call: those of all its attempts. */
export function spentBy(call: CallPicture): { usage: Usage | undefined; cost: number | undefined } {
  const sum: Record<string, number> = {}
  let cost: number | undefined
  for (const { out } of passesAt(call, innermostOf(call))) {
    for (const [counter, number = 0] of Object.entries(out?.usage ?? {}))
      sum[counter] = (sum[counter] ?? 0) + number
    if (out?.cost !== undefined) cost = (cost ?? 0) + out.cost
  }
  return { usage: Object.keys(sum).length > 0 ? sum : undefined, cost }
}

function callRow(call: CallPicture): OnionRow {
  const { line, run } = call
  const kind = line.type === 'tool' ? 'tool' : 'model'
  const innermost = passesAt(call, innermostOf(call))
  const core: OnionRow = {
    ...rowOf(call, 'core', kind === 'tool' ? (line.name ?? 'tool') : providerName(call)),
    place: innermostOf(call),
    bars: innermost.map((pass) => barOf(pass, run, 'core')),
    marks: coreMarks(call, innermost),
    totalMs: lengthOf(innermost, run),
    children: call.children.map(onionOf),
  }
  const { usage, cost } = kind === 'model' ? spentBy(call) : { usage: undefined, cost: undefined }
  return {
    ...rowOf(call, kind, nameOfCall(call)),
    usage,
    cost,
    children: [...middlewareRows(call), ...(innermost.length > 0 || isPlanned(run) ? [core] : [])],
  }
}

function rowOf(call: CallPicture, kind: OnionRow['kind'], name: string): OnionRow {
  const { run, passes } = call
  return {
    kind,
    name,
    call,
    place: undefined,
    marks: isPlanned(run) ? [] : [...restoredMarks(call), ...callMarks(call)],
    bars: passes.map((pass) => barOf(pass, run, 'inside')),
    totalMs: lengthOf(passes, run),
    ownMs: undefined,
    usage: undefined,
    cost: undefined,
    children: [],
  }
}

function middlewareRows(call: CallPicture): OnionRow[] {
  return middlewareOf(call).flatMap((name, place): OnionRow[] => {
    const passes = passesAt(call, place)
    if (isPlanned(call.run)) return [{ ...rowOf(call, 'middleware', name), place }]
    if (passes.length === 0) return []
    const bars = passes.flatMap((pass) => middlewareBars(pass, call.run))
    const own = bars.filter(({ kind }) => kind === 'own')
    return [
      {
        ...rowOf(call, 'middleware', name),
        place,
        marks: [...middlewareMarks(call, place, passes), ...toldMarks(call, name)],
        bars,
        totalMs: lengthOf(passes, call.run),
        ownMs: own.reduce((sum, { from, to }) => sum + to - from, 0),
      },
    ]
  })
}

/** Before, inside and after, for each time that the inside ran. */
function middlewareBars(pass: PassPicture, run: RunPicture): Bar[] {
  const bars: Bar[] = []
  let at = pass.start
  for (const inside of pass.inside) {
    const bar = barOf(inside, run, 'inside')
    bars.push({ from: at, to: bar.from, kind: 'own' }, bar)
    at = bar.to
  }
  return [...bars, { from: at, to: Math.max(at, endOf(pass, run)), kind: 'own' }]
}

function middlewareMarks(call: CallPicture, place: number, passes: readonly PassPicture[]): Mark[] {
  const marks: Mark[] = []
  const inside = passes.flatMap((pass) => pass.inside)
  const last = passes.at(-1)!
  const most = Math.max(...passes.map((pass) => pass.inside.length))
  if (most > 1) marks.push({ kind: 'retry', text: `called callNext() ${most}×` })
  const changed: string[] = []
  if (inside.some((pass) => pass.changed))
    changed.push(call.level === 'function' ? 'arguments' : 'request')
  const within = last.inside.at(-1)
  if (last.inside.length === 0 && last.out !== undefined && last.out.exit === undefined)
    marks.push({ kind: 'answered', text: 'answered by itself' })
  else if (changesAnswer(call, place, last))
    changed.push(call.level === 'function' ? 'result' : 'answer')
  if (changed.length > 0) marks.push({ kind: 'changed', text: `changed ${changed.join(' and ')}` })
  const held = holdsBack(call, place)
  if (held > 0) marks.push({ kind: 'held', text: `held ${count(held, 'character')}` })
  const { exit, error } = last.out ?? {}
  const isIts = exit !== undefined && within?.out?.exit === undefined
  if (isIts)
    marks.push({ kind: exit === 'failed' ? 'failed' : 'ended', text: endText(exit, error) })
  return marks
}

/** Marks of events about a middleware that no other line shows. */
function toldMarks({ events }: CallPicture, name: string): Mark[] {
  return events.flatMap(({ type, facts = {} }): Mark[] => {
    const { middleware, client, because, lostTokens } = facts
    if (middleware !== name) return []
    if (type === 'route') return [{ kind: 'changed', text: `chose ${client} (${because})` }]
    if (type !== 'prompt_cache') return []
    return [{ kind: 'changed', text: `lost ${lostTokens} cached tokens` }]
  })
}

function changesAnswer(call: CallPicture, place: number, pass: PassPicture): boolean {
  const inside = pass.inside.at(-1)
  if (pass.out?.exit !== undefined) return false
  if (call.level === 'function') return inside !== undefined && pass.result !== inside.result
  const [before, after] = [laneOf(call, place + 1), laneOf(call, place)]
  return before.text !== after.text || before.len !== after.len
}

function holdsBack(call: CallPicture, place: number): number {
  if (call.level === 'function' || call.run.line?.stream !== true) return 0
  const spans = heldSpans(laneOf(call, place + 1), laneOf(call, place))
  return Math.max(0, ...spans.map(({ chars }) => chars))
}

function callMarks(call: CallPicture): Mark[] {
  const exit = exitOfCall(call)
  const error = errorOf(call)
  if (exit === 'open') return [{ kind: 'open', text: 'no end recorded' }]
  if (exit !== 'ok')
    return [{ kind: exit === 'failed' ? 'failed' : 'ended', text: endText(exit, error) }]
  if (error !== undefined && call.level === 'function') return [{ kind: 'failed', text: error }]
  const attempts = passesAt(call, innermostOf(call)).length
  if (call.line.type === 'model' && attempts > 1)
    return [{ kind: 'retry', text: `${attempts} attempts` }]
  if (call.line.type !== 'run' && attempts === 0)
    return [
      {
        kind: 'answered',
        text: call.line.type === 'model' ? 'no provider call' : 'tool did not run',
      },
    ]
  return []
}

/** Tells that the call was made before, by another process of a durable run. */
function restoredMarks({ events, line }: CallPicture): Mark[] {
  if (line.type === 'run') return []
  return events.flatMap(({ type, facts = {} }): Mark[] =>
    type === 'durable' && facts['restored'] !== undefined
      ? [{ kind: 'answered', text: `restored, made by ${facts['by']}` }]
      : [],
  )
}

function coreMarks(call: CallPicture, passes: readonly PassPicture[]): Mark[] {
  return passes.flatMap(({ out, n, client }): Mark[] => {
    if (out?.exit === undefined && out?.error === undefined) return []
    const at = client ? ` (${client})` : ''
    const attempt = call.line.type === 'model' && passes.length > 1 ? `attempt ${n}${at}: ` : ''
    const status = out.status === undefined ? '' : ` ${out.status}`
    return [{ kind: 'failed', text: `${attempt}${out.error ?? exitWords[out.exit!]}${status}` }]
  })
}

function endText(exit: string, error: string | undefined): string {
  const words = exitWords[exit] ?? exit
  return error === undefined || exit !== 'failed' ? words : `${words}: ${error}`
}

function providerName(call: CallPicture): string {
  const { line } = call.run
  const last = passesAt(call, innermostOf(call)).at(-1)
  const model = last?.out?.model ?? line?.model
  return [clientOf(call, last), model].filter(Boolean).join(' ') || 'provider'
}

function clientOf({ run }: CallPicture, pass: PassPicture | undefined): string | undefined {
  return pass?.client ?? run.line?.client
}

function barOf(pass: PassPicture, run: RunPicture, kind: Bar['kind']): Bar {
  return { from: pass.start, to: endOf(pass, run), kind }
}

function endOf(pass: PassPicture, run: RunPicture): number {
  return pass.out?.t ?? run.last
}

function lengthOf(passes: readonly PassPicture[], run: RunPicture): number {
  return passes.reduce((sum, pass) => sum + endOf(pass, run) - pass.start, 0)
}

function emptyCall(run: RunPicture): CallPicture {
  const line = { k: 'call', t: run.start, r: run.r, c: 0, type: 'run' } as const
  return {
    run,
    seq: 0,
    line,
    level: 'agent',
    ordinal: 1,
    passes: [],
    updates: [],
    restarts: [],
    events: [],
    children: [],
    open: [],
  }
}
