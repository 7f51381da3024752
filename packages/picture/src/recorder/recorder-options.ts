import type { AgentContext, ChatContext } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { Capture } from '../lines/line.ts'
import type { PriceTable } from './price-table.ts'

/** The outermost run of a recording, for a sink. */
export interface RecordedRun {
  /** Id of the run. */
  readonly id: string
  /** Name of the agent, if it has one. */
  readonly agent: string | undefined
  /** Time of day at which the run began, in ISO 8601. */
  readonly at: string
}

/** Receives the lines of recordings. */
export interface RecordingSink {
  /**
   * Writes whole lines, each with its line break. Writes of one run do not overlap.
   * @param run the
   * outermost run of the lines
   */
  write(lines: string, run: RecordedRun): void | Promise<void>
}

/** A failure of recording, which does not affect the run. */
export interface RecorderEvent {
  readonly status: 'error'
  /** Error that recording failed with. */
  readonly error: unknown
}

/** Options of `recorder()`. */
export interface RecorderOptions {
  /** Receives the lines: `filesIn(folder)` of `@lamella/picture/file`, or your own sink. */
  readonly sink: RecordingSink
  /**
   * Returns true for runs to record.
   * @default all
   */
  readonly when?: ((context: AgentContext | ChatContext) => boolean) | undefined
  /** Called when recording fails. Errors that it throws are dropped. */
  readonly onEvent?: ((event: RecorderEvent) => void) | undefined
  /**
   * `off` records nothing: `middleware()` returns the list unchanged.
   * @default 'on'
   */
  readonly mode?: 'on' | 'off' | undefined
  /**
   * `chat` omits the probes around the run, for the list of a client.
   * @default 'agent'
   */
  readonly level?: 'agent' | 'chat' | undefined
  /**
   * Recorded content: lengths, counts and names (`facts`); texts after `redact` (`redacted`); or
   * everything, also blocked text (`full`).
   * @default 'facts'
   */
  readonly capture?: Capture | undefined
  /** Changes each text, with `capture: 'redacted'`. A text for which it throws is omitted. */
  readonly redact?: ((text: string) => string) | undefined
  /** Prices in US dollars for a million tokens, by model. The same table as that of `budget()`. */
  readonly prices?: PriceTable | undefined
  /**
   * Maximum length of a recorded text in characters. The rest is omitted.
   * @default 20000
   */
  readonly maxTextChars?: number | undefined
  /**
   * Maximum size of one outermost run in UTF-16 units. Further lines are only counted.
   * @default 20000000
   */
  readonly maxBytes?: number | undefined
  /**
   * Returns the time in milliseconds.
   * @default `performance.now()`
   */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkRecorderOptions(options: RecorderOptions): void {
  checkOptions<RecorderOptions>('recorder', options, {
    when: 'function?',
    onEvent: 'function?',
    sink: 'any',
    'sink.write': 'function',
    mode: ['on', 'off'],
    level: ['agent', 'chat'],
    capture: ['facts', 'redacted', 'full'],
    redact: 'function?',
    prices: 'any',
    maxTextChars: 1,
    maxBytes: 1000,
    clock: 'any',
  })
  const { capture = 'facts', redact, prices } = options
  if (capture === 'redacted' && redact === undefined)
    throw wrongOption('recorder', 'redact', "a function with `capture: 'redacted'`", redact)
  if (capture !== 'redacted' && redact !== undefined)
    throw wrongOption('recorder', 'capture', "'redacted' with `redact`", capture)
  for (const [model, price] of Object.entries(prices ?? {})) {
    for (const kind of ['input', 'output'] as const)
      if (!(price?.[kind] >= 0))
        throw wrongOption(
          'recorder',
          `prices.${model}.${kind}`,
          'a number from 0 up',
          price?.[kind],
        )
  }
}
