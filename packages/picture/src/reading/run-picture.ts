import type {
  CallLine,
  EndLine,
  EventLine,
  Level,
  MessageLine,
  OutLine,
  PartFacts,
  RunLine,
  TextFacts,
  ToolLine,
  UpdateLine,
} from '../lines/line.ts'

/** Complete input of a probe. */
export interface Request {
  readonly messages: readonly number[]
  readonly instructions: TextFacts | undefined
  readonly options: Readonly<Record<string, unknown>>
  /** Arguments of a tool call. */
  readonly args: TextFacts | undefined
}

/** Output of a probe. */
export interface Result {
  readonly messages?: readonly number[] | undefined
  readonly parts?: readonly PartFacts[] | undefined
}

/** One time that a call went through a probe. */
export interface PassPicture {
  readonly p: number
  readonly n: number
  readonly seq: number
  readonly start: number
  readonly request: Request
  /** Name of the client that was called, where it is another one than the run's. */
  readonly client?: string | undefined
  /** True if the middleware outside of the probe changed the request. */
  readonly changed: boolean
  /** Passes of the next probe in. */
  readonly inside: PassPicture[]
  /** Line with which it ended. Missing while it runs, or where the recording was cut off. */
  out?: OutLine
  result?: Result | undefined
}

/** A piece of a stream, in the order in which it was written. */
export interface SeenUpdate {
  readonly seq: number
  readonly line: UpdateLine
}

/** The updates of a call started over at a probe. */
export interface SeenRestart {
  readonly seq: number
  readonly t: number
  readonly p: number
}

/** The run itself, a model call or a tool call. */
export interface CallPicture {
  readonly run: RunPicture
  readonly seq: number
  readonly line: CallLine
  readonly level: Level
  /** Position among the calls of its type, from 1. */
  readonly ordinal: number
  /** Passes of the outermost probe. */
  readonly passes: PassPicture[]
  readonly updates: SeenUpdate[]
  readonly restarts: SeenRestart[]
  readonly events: EventLine[]
  /** Runs that it started. */
  readonly children: RunPicture[]
  end?: number
  /** Passes that have not ended, by probe. */
  readonly open: PassPicture[][]
}

/** A run, as far as it was recorded. */
export interface RunPicture {
  readonly r: number
  readonly scope: Scope
  line?: RunLine
  end?: EndLine
  /** Time of its first and its last line. */
  readonly start: number
  last: number
  readonly calls: CallPicture[]
  readonly events: EventLine[]
  readonly parent?: { readonly run: RunPicture; readonly call: CallPicture | undefined } | undefined
  readonly children: RunPicture[]
}

/** Messages and tools that the runs of one outermost run share. */
export interface Scope {
  readonly messages: Map<number, MessageLine>
  readonly tools: Map<string, ToolLine>
}

/** Tells if nothing ran: the picture is of an explanation. */
export function isPlanned({ line }: RunPicture): boolean {
  return line?.plan !== undefined
}

/** Restarts of a run's own probes that are told by an update, and where model calls began. */
export function modelCallsBefore(run: RunPicture, seq: number): number {
  let last = 0
  for (const call of run.calls) if (call.line.type === 'model' && call.seq < seq) last = call.seq
  return last
}

/** Passes of a call at a probe, in order. */
export function passesAt(call: CallPicture, p: number): PassPicture[] {
  let passes: readonly PassPicture[] = call.passes
  for (let at = 0; at < p; at++) passes = passes.flatMap(({ inside }) => inside)
  return [...passes]
}

/** Names of the middleware that a call went through, outermost first. */
export function middlewareOf({ run, level }: CallPicture): readonly string[] {
  return run.line?.middleware[level].map(({ name }) => name) ?? []
}

/** Number of the probe inside of all middleware. */
export function innermostOf(call: CallPicture): number {
  return middlewareOf(call).length
}

/** How a call ended; `open` if the recording does not tell. */
export function exitOfCall(call: CallPicture): 'ok' | 'open' | NonNullable<OutLine['exit']> {
  const out = call.passes.at(-1)?.out
  return out === undefined ? 'open' : (out.exit ?? 'ok')
}
