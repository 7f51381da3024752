import type { PartFacts, TextFacts } from '../lines/line.ts'
import { diffLines } from '../reading/diff.ts'
import { readRecording } from '../reading/read-recording.ts'
import type { Request, Result, RunPicture } from '../reading/run-picture.ts'
import { exitOfCall, innermostOf, passesAt } from '../reading/run-picture.ts'
import { nameOfCall, statusOf } from '../reading/words.ts'

/** The first place in which two runs differ. */
export interface Parting {
  /** Name of the call, such as `Model call 2`. */
  readonly call: string
  /** Part of the call that differs. */
  readonly part: 'call' | 'request' | 'result' | 'end'
  /** The difference, line by line: `- ` before lines of the first run only, `+ ` before those of the second. */
  readonly difference: string
}

interface Step {
  readonly call: string
  readonly part: Parting['part']
  readonly text: string
}

/**
 * Finds the first difference of the first runs of two recordings: a request, a result or a call, as
 * the provider and the tools saw it. Returns undefined if there is none. With `capture: 'facts'`,
 * lengths are compared.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { recorder, whereTheyPart } from '@lamella/picture'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const [good, bad] = await Promise.all(['Sun', 'Rain'].map(async (answer) => {
 *   let recording = ''
 *   const record = recorder({ sink: { write: (lines) => void (recording += lines) }, capture: 'full' })
 *   await new Agent({ client: scriptedClient([answer]), middleware: record.middleware() }).run('Rome?')
 *   await record.flush()
 *   return recording
 * }))
 * console.log(whereTheyPart(good!, bad!)?.difference)
 * ```
 */
export function whereTheyPart(first: string, second: string): Parting | undefined {
  const [left, right] = [first, second].map((text) => stepsOf(readRecording(text)[0]))
  const count = Math.max(left!.length, right!.length)
  for (let at = 0; at < count; at++) {
    const [mine, yours] = [left![at], right![at]]
    if (mine?.text === yours?.text && mine?.call === yours?.call) continue
    const { call, part } = mine ?? yours!
    const isSame = mine?.call === yours?.call && mine?.part === yours?.part
    return {
      call,
      part: isSame ? part : 'call',
      difference: isSame
        ? signed(mine?.text ?? '', yours?.text ?? '')
        : signed(`${mine?.call ?? 'no further call'}\n`, `${yours?.call ?? 'no further call'}\n`),
    }
  }
  return undefined
}

function stepsOf(run: RunPicture | undefined): Step[] {
  if (run === undefined) return []
  const steps = run.calls
    .filter(({ line }) => line.c !== 0)
    .flatMap((call): Step[] => {
      const name = nameOfCall(call)
      const passes = passesAt(call, innermostOf(call))
      const { result } = call.passes.at(-1) ?? {}
      return [
        {
          call: name,
          part: 'request',
          text: passes.map(({ request }) => textOfRequest(request, run)).join(''),
        },
        { call: name, part: 'result', text: `${exitOfCall(call)}\n${textOfResult(result, run)}` },
      ]
    })
  return [...steps, { call: 'the end', part: 'end', text: `${statusOf(run)}\n` }]
}

function textOfRequest(
  { instructions, options, messages, args }: Request,
  run: RunPicture,
): string {
  return [
    instructions === undefined ? '' : `instructions: ${said(instructions)}\n`,
    ...Object.entries(options).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`),
    args === undefined ? '' : `arguments: ${said(args)}\n`,
    ...messages.map((number) => textOfMessage(number, run)),
  ].join('')
}

function textOfResult(result: Result | undefined, run: RunPicture): string {
  return [
    ...(result?.messages ?? []).map((number) => textOfMessage(number, run)),
    ...(result?.parts ?? []).map((part) => `${textOfPart(part)}\n`),
  ].join('')
}

function textOfMessage(number: number, { scope }: RunPicture): string {
  const { role, parts } = scope.messages.get(number) ?? { role: 'unknown', parts: [] }
  return `${role}: ${parts.map(textOfPart).join(' ')}\n`
}

function textOfPart(part: PartFacts): string {
  const { type, name, fn, error, bytes, parts = [] } = part
  const facts = [
    type === 'text' ? '' : type,
    name,
    fn && `#${fn}`,
    error,
    bytes && `${bytes} bytes`,
  ]
  return [...facts.filter(Boolean), said(part), ...parts.map(textOfPart)].filter(Boolean).join(' ')
}

function said({ text, len }: TextFacts): string {
  return text ?? (len === undefined ? '' : `[${len} characters]`)
}

const context = 2

function signed(before: string, after: string): string {
  const signs = { same: '  ', removed: '- ', added: '+ ' }
  return diffLines(before, after)
    .flatMap(({ kind, items }) => {
      const isLong = kind === 'same' && items.length > 2 * context + 1
      const shown = isLong
        ? [
            ...items.slice(0, context),
            `… ${items.length - 2 * context} lines …\n`,
            ...items.slice(-context),
          ]
        : items
      return shown.map((line) => signs[kind] + (line.endsWith('\n') ? line : `${line}\n`))
    })
    .join('')
}
