import type { ChatResponseUpdate, Content, ProviderErrorKind } from '@lamella/core'
import { ProviderError } from '@lamella/core'
import type { OutLine, PartFacts, UpdateLine } from '../lines/line.ts'
import { readRecording } from '../reading/read-recording.ts'
import type { CallPicture, RunPicture } from '../reading/run-picture.ts'
import { innermostOf, passesAt } from '../reading/run-picture.ts'

/** Answer of a model in one call to the provider: a step for `scriptedClient` of `@lamella/testing`. */
export interface ReplayStep {
  /** Updates of the answer, in order. */
  readonly updates: readonly Partial<ChatResponseUpdate>[]
  /** Failure that the stream ended with. */
  readonly error?: Error | undefined
}

/** A recorded run, for another run without the model. */
export interface Replay {
  /** Input of the run, for `agent.run`. */
  readonly input: readonly {
    readonly role: 'user' | 'assistant' | 'system' | 'tool'
    readonly contents: readonly Content[]
  }[]
  /** One step for each call to the provider, including failed ones. */
  readonly steps: readonly ReplayStep[]
}

/**
 * Converts the first run of a recording to the steps of a scripted client, so that a failed run
 * becomes a test. Tools run again; model calls of sub-agents are not included.
 * @throws TypeError if
 * the recording has no run, or was not made with `capture: 'full'`
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { recorder, replayOf } from '@lamella/picture'
 * import { scriptedClient } from '@lamella/testing'
 *
 * let recording = ''
 * const record = recorder({ sink: { write: (lines) => void (recording += lines) }, capture: 'full' })
 * await new Agent({ client: scriptedClient(['Hi!']), middleware: record.middleware() }).run('Hello')
 * await record.flush()
 * const { input, steps } = replayOf(recording)
 * const { text } = await new Agent({ client: scriptedClient(steps) }).run(input)
 * console.log(text) // Hi!
 * ```
 */
export function replayOf(recording: string): Replay {
  const [run] = readRecording(recording)
  if (run === undefined) throw new TypeError('replayOf: the recording has no run')
  const capture = run.line?.capture ?? 'facts'
  if (capture !== 'full')
    throw new TypeError(
      `replayOf: the recording must be made with \`capture: 'full'\`, got '${capture}'`,
    )
  const calls = run.calls.filter(({ line }) => line.type === 'model')
  return { input: inputOf(run), steps: calls.flatMap((call) => stepsOf(call)) }
}

function inputOf(run: RunPicture): Replay['input'] {
  const numbers = run.calls.find(({ line }) => line.c === 0)?.passes[0]?.request.messages ?? []
  return numbers.flatMap((number) => {
    const message = run.scope.messages.get(number)
    if (message === undefined) return []
    const role = message.role as Replay['input'][number]['role']
    return [{ role, contents: message.parts.flatMap((part) => contentOf(part, new Map())) }]
  })
}

function stepsOf(call: CallPicture): ReplayStep[] {
  const innermost = innermostOf(call)
  const passes = passesAt(call, innermost)
  return passes.map((pass, index) => {
    const until = passes[index + 1]?.seq ?? Infinity
    const callIds = new Map<number | undefined, string>()
    const updates = call.updates
      .filter(
        ({ seq, line }) =>
          line.c === call.line.c && line.p === innermost && seq > pass.seq && seq < until,
      )
      .map(({ line }) => updateOf(line, callIds))
    const error = pass.out?.exit === 'failed' ? errorOf(pass.out, call.run) : undefined
    return error === undefined ? { updates } : { updates, error }
  })
}

function updateOf(
  line: UpdateLine,
  callIds: Map<number | undefined, string>,
): Partial<ChatResponseUpdate> {
  const { text, parts = [], role, finish, usage } = line
  const contents: Content[] =
    text === undefined
      ? parts.flatMap((part) => contentOf(part, callIds))
      : [{ type: 'text', text }]
  return {
    contents,
    ...(contents.length > 0 && { role: (role ?? 'assistant') as 'assistant' }),
    ...(finish !== undefined && { finishReason: finish }),
    ...(usage !== undefined && { usage }),
  }
}

/** A content as it was, but for files, which are not in a recording. */
function contentOf(part: PartFacts, callIds: Map<number | undefined, string>): Content[] {
  const { type, text = '', name = '', fn, index, cut } = part
  if (cut === true) throw new TypeError('replayOf: a text was cut off at `maxTextChars`')
  switch (type) {
    case 'text':
    case 'reasoning':
    case 'refusal':
      return [{ type, text }]
    case 'function-call': {
      // Later fragments of a call may name its index only.
      const callId = fn === undefined ? (callIds.get(index) ?? '') : `call_${fn}`
      callIds.set(index, callId)
      return [{ type, callId, name, arguments: text, ...(index !== undefined && { index }) }]
    }
    case 'uri':
      return text === '' ? [] : [{ type, uri: text }]
    default:
      return []
  }
}

const kinds: readonly string[] = [
  'rate_limit',
  'quota',
  'overloaded',
  'timeout',
  'network',
  'auth',
  'invalid_request',
  'context_length',
  'content_filter',
  'not_found',
  'truncated_stream',
  'server',
] satisfies ProviderErrorKind[]

function errorOf({ error = '', message, status, retryable }: OutLine, run: RunPicture): Error {
  const text = message?.text ?? error
  if (!kinds.includes(error)) return new Error(text)
  return new ProviderError(text, {
    kind: error as ProviderErrorKind,
    provider: run.line?.provider ?? 'replay',
    status,
    ...(retryable !== undefined && { retry: { retryable } }),
  })
}
