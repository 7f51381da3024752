import type { CallLine, InLine, Level, Line, OutLine } from '../lines/line.ts'
import type { CallPicture, PassPicture, Request, RunPicture, Scope } from './run-picture.ts'

const noRequest: Request = { messages: [], instructions: undefined, options: {}, args: undefined }
const levels: Readonly<Record<CallLine['type'], Level>> = {
  run: 'agent',
  model: 'chat',
  tool: 'function',
}

/**
 * Puts runs together from lines, one by one, as they were written. It never throws: what a cut or damaged
 * file lacks is missing in the runs.
 */
export class RecordingReader {
  /** Outermost runs. */
  readonly runs: RunPicture[] = []
  /** All runs, by their number: that of the latest recording in a file with several. */
  readonly #byNumber = new Map<number, RunPicture>()
  readonly #lastRequests = new WeakMap<RunPicture, Request>()
  #seq = 0

  add(line: Line): void {
    this.#seq++
    const run = line.k === 'run' ? this.#begin(line) : this.#runOf(line)
    if (!Number.isFinite(line.t)) return
    run.last = Math.max(run.last, line.t)
    switch (line.k) {
      case 'call':
        this.#call(run, line)
        break
      case 'msg':
        run.scope.messages.set(line.m, line)
        break
      case 'tool':
        run.scope.tools.set(line.name, line)
        break
      case 'in':
        this.#enter(this.#callOf(run, line), line)
        break
      case 'out':
        leave(this.#callOf(run, line), line)
        break
      case 'up': {
        const seen = { seq: this.#seq, line }
        this.#callOf(run, line).updates.push(seen)
        if (line.run !== undefined && line.c !== 0) this.#call0(run, line.t).updates.push(seen)
        break
      }
      case 'again':
        this.#callOf(run, line).restarts.push({ seq: this.#seq, t: line.t, p: line.p })
        break
      case 'event':
        run.events.push(line)
        openCall(run)?.events.push(line)
        break
      case 'end':
        run.end = line
        break
      default:
    }
  }

  #begin(line: Extract<Line, { k: 'run' }>): RunPicture {
    const parent = line.parent && this.#byNumber.get(line.parent.r)
    const call = parent?.calls.find(({ line: { c } }) => c === line.parent?.c)
    const run = this.#newRun(line.r, line.t, parent && { run: parent, call })
    run.line = line
    return run
  }

  #newRun(r: number, start: number, parent: RunPicture['parent']): RunPicture {
    const scope: Scope = parent?.run.scope ?? { messages: new Map(), tools: new Map() }
    const run: RunPicture = {
      r,
      scope,
      start,
      last: start,
      calls: [],
      events: [],
      parent,
      children: [],
    }
    this.#byNumber.set(r, run)
    if (parent === undefined) this.runs.push(run)
    else {
      parent.run.children.push(run)
      parent.call?.children.push(run)
    }
    return run
  }

  /** Of a file that lacks its beginning, a run that nothing is known of. */
  #runOf({ r, t }: Line): RunPicture {
    return this.#byNumber.get(r) ?? this.#newRun(r, t, undefined)
  }

  #call(run: RunPicture, line: CallLine): CallPicture {
    const ordinal = run.calls.filter((other) => other.line.type === line.type).length + 1
    const call: CallPicture = {
      run,
      seq: this.#seq,
      line,
      level: levels[line.type] ?? 'agent',
      ordinal,
      passes: [],
      updates: [],
      restarts: [],
      events: [],
      children: [],
      open: [],
    }
    run.calls.push(call)
    return call
  }

  #call0(run: RunPicture, t: number): CallPicture {
    const known = run.calls.find(({ line }) => line.c === 0)
    return known ?? this.#call(run, { k: 'call', t, r: run.r, c: 0, type: 'run' })
  }

  #callOf(run: RunPicture, { c, t }: { readonly c: number; readonly t: number }): CallPicture {
    if (c === 0) return this.#call0(run, t)
    const known = run.calls.findLast(({ line }) => line.c === c)
    return known ?? this.#call(run, { k: 'call', t, r: run.r, c, type: 'model' })
  }

  #enter(call: CallPicture, line: InLine): void {
    const { p, n = 1, t } = line
    const outside = p > 0 ? call.open[p - 1]?.at(-1) : undefined
    const before =
      p > 0
        ? outside?.request
        : call.level === 'chat'
          ? this.#lastRequests.get(call.run)
          : undefined
    const request = laidOver(before ?? noRequest, line)
    const pass: PassPicture = {
      p,
      n,
      seq: this.#seq,
      start: t,
      request,
      client: line.client,
      changed: p > 0 && request !== before,
      inside: [],
    }
    if (p === 0) {
      call.passes.push(pass)
      if (call.level === 'chat') this.#lastRequests.set(call.run, request)
    } else if (outside !== undefined) outside.inside.push(pass)
    if (n > 1) call.restarts.push({ seq: this.#seq, t, p })
    ;(call.open[p] ??= []).push(pass)
  }
}

function laidOver(before: Request, line: InLine): Request {
  const { messages, instructions, options, args } = line
  if ((messages ?? options ?? args) === undefined && instructions === undefined) return before
  return {
    messages: messages
      ? [...before.messages.slice(0, messages.same), ...(messages.rest ?? [])]
      : before.messages,
    instructions: instructions === undefined ? before.instructions : (instructions ?? undefined),
    options: options ?? before.options,
    args: args ?? before.args,
  }
}

function leave(call: CallPicture, line: OutLine): void {
  const { p, n = 1, t } = line
  const open = call.open[p] ?? []
  const at = open.findLastIndex((pass) => pass.n === n)
  const pass = open[at]
  if (pass === undefined) return
  open.splice(at, 1)
  pass.out = line
  const inside = pass.inside.at(-1)?.result
  if (line.messages ?? line.result) pass.result = { messages: line.messages, parts: line.result }
  else if (line.exit === undefined) pass.result = inside
  if (p === 0) call.end = t
}

/** The call that an event was most likely told in: the last one that was opened and runs. */
function openCall(run: RunPicture): CallPicture | undefined {
  return run.calls.findLast(({ end, line }) => end === undefined && line.c !== 0) ?? run.calls[0]
}
