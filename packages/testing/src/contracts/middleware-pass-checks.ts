import type { ChatResponse, FunctionResult } from '@lamella/core'
import { foldUpdates, textOf } from '@lamella/core'
import { assertChunkInvariant } from './chunk-invariance.ts'
import { demand, demandSame, nextTask } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'
import type { MiddlewareSubject } from './middleware-subject.ts'
import type { Inside, Level } from './middleware-trial.ts'
import { partsOf, startTrial, withTime } from './middleware-trial.ts'
import type { MiddlewareRun } from '../scripted/run-middleware.ts'
import { callFunction } from '../scripted/scripted-step.ts'

/** Checks that a middleware passes unrelated content unchanged. */
export function middlewarePassChecks(input: {
  readonly make: () => MiddlewareSubject
  readonly levels: readonly Level[]
  readonly neutralText: string
  readonly texts: readonly string[]
}): readonly ContractCheck[] {
  const { make, levels, neutralText, texts } = input

  return [
    {
      name: 'has a name, a level and `process`',
      run: async () => {
        const parts = partsOf(make().middleware)
        demand(parts.length > 0, 'there must be a middleware')
        for (const part of parts) {
          const { name, level } = part
          demand(
            typeof name === 'string' && /^\S+$/u.test(name),
            `a name must be one word, got "${name}"`,
          )
          demand(['agent', 'chat', 'function'].includes(level), `the level "${level}" is not known`)
          demand(typeof part.process === 'function', `"${name}" must have a method \`process\``)
        }
        const names = parts.map(({ name, level }) => `${level} ${name}`)
        demandSame(names.length, new Set(names).size, 'the number of different names')
      },
    },

    ...levels.flatMap((level) =>
      [false, true].map(
        (stream): ContractCheck => ({
          name: `${level}: passes a neutral answer unchanged, ${mode(stream)}`,
          run: async () => {
            const { middleware, clock } = make()
            const trial = startTrial(level, middleware, {
              input: neutralText,
              reply: neutralText,
              stream,
            })
            const done = await withTime(clock, trial.run)

            demandSame(done.error, undefined, 'the error')
            demandSame(textLeaving(level, done), neutralText, 'the text that leaves it')
            demandSame(trial.innerCount, 1, 'the number of times that its inside ran')
            demandSame(done.response?.status, 'completed', 'the status of the run')
            if (stream && level !== 'function') {
              demandSame(foldUpdates(done.updates).text, neutralText, 'the text that is streamed')
            }
          },
        }),
      ),
    ),

    ...levels.flatMap((level) =>
      [false, true].map(
        (stream): ContractCheck => ({
          name: `${level}: passes a result that its inside returns, ${mode(stream)}`,
          run: async () => {
            const { middleware, clock } = make()
            const inside: Inside = async (_, callNext) => {
              await callNext()
              return neutralText
            }
            const trial = startTrial(level, middleware, { input: neutralText, inside, stream })
            const done = await withTime(clock, trial.run)

            demandSame(done.error, undefined, 'the error')
            demandSame(textLeaving(level, done), neutralText, 'the text that leaves it')
          },
        }),
      ),
    ),

    ...levels
      .filter((level) => level !== 'function')
      .map(
        (level): ContractCheck => ({
          name: `${level}: gives the same result streamed and plain, for any chunking`,
          run: async () => {
            const call = callFunction('test_tool', { text: neutralText }, 'call_1')
            await assertChunkInvariant(() => make().middleware, {
              input: neutralText,
              replies: [neutralText, ...texts, [neutralText, call]],
            })
          },
        }),
      ),

    ...levels.flatMap((level) =>
      [false, true].map(
        (stream): ContractCheck => ({
          name: `${level}: keeps concurrent runs separate, ${mode(stream)}`,
          run: async () => {
            const { middleware, clock } = make()
            const names = ['Ada', 'Ben', 'Cleo']
            const trials = names.map((name) =>
              startTrial(level, middleware, {
                input: `${neutralText} ${name}`,
                reply: `${neutralText} ${name}`,
                stream,
                inside: async (_, callNext) => {
                  await nextTask()
                  await callNext()
                  await nextTask()
                },
              }),
            )
            const runs = await withTime(clock, Promise.all(trials.map((trial) => trial.run)))

            demandSame(
              runs.map((run) => run.error ?? textLeaving(level, run)),
              names.map((name) => `${neutralText} ${name}`),
              'what runs at the same time come to',
            )
          },
        }),
      ),
    ),

    ...levels.map(
      (level): ContractCheck => ({
        name: `${level}: gives the same result in a second run`,
        run: async () => {
          const { middleware, clock } = make()
          const options = { input: neutralText, reply: neutralText }
          const first = await withTime(clock, startTrial(level, middleware, options).run)
          const second = await withTime(clock, startTrial(level, middleware, options).run)

          demandSame(second.error, undefined, 'the error of the second run')
          demandSame(textLeaving(level, second), textLeaving(level, first), 'the second answer')
        },
      }),
    ),
  ]
}

function mode(stream: boolean): string {
  return stream ? 'streamed' : 'plain'
}

function textLeaving(
  level: Level,
  { result }: MiddlewareRun<unknown, unknown>,
): string | undefined {
  if (result === undefined) return undefined
  if (level === 'function') return textOf((result as FunctionResult).contents)
  return (result as ChatResponse).text
}
