import type { AgentOptions, Middleware } from '@lamella/core'
import { Agent, agentMiddleware, chatMiddleware, GuardrailTripped, tool } from '@lamella/core'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'

/** A run to be shown by a protocol: made anew for each reader, since a script is used up. */
export interface RandomRun {
  readonly steps: readonly Step[]
  readonly middleware: readonly Kind[]
  readonly end: 'text' | 'pause' | 'declared' | 'failure'
}

interface Step {
  readonly texts: readonly string[]
  readonly fails: boolean
  readonly calls: number
}

type Kind = 'retry' | 'retry run' | 'replace' | 'block'

const words = fc.array(fc.constantFrom('a', 'b ', 'é', '\n\ndata: x', '{"', '<b>', '😀'), {
  maxLength: 3,
})

const step: fc.Arbitrary<Step> = fc.record({
  texts: words,
  fails: fc.boolean(),
  calls: fc.nat({ max: 2 }),
})

export const randomRun: fc.Arbitrary<RandomRun> = fc.record({
  steps: fc.array(step, { maxLength: 4 }),
  middleware: fc.uniqueArray(fc.constantFrom<Kind>('retry', 'retry run', 'replace', 'block'), {
    maxLength: 3,
  }),
  end: fc.constantFrom('text', 'pause', 'declared', 'failure'),
})

/** Planted in everything that no reader may see. */
export const secret = 'sk-planted-7f3a'

/** An agent that runs it. Its first model call that fails is retried, if a middleware retries. */
export function agentOf(
  { steps, middleware, end }: RandomRun,
  more: Partial<AgentOptions> = {},
): Agent {
  const retries = middleware.some((kind) => kind.startsWith('retry'))
  const script = steps.flatMap(({ texts, fails, calls }, at): ScriptedStep[] => {
    const asked = Array.from({ length: calls }, (_, nth) =>
      callFunction('look', { [secret]: at }, `look_${at}_${nth}`),
    )
    const reply = [...texts, ...asked]
    const failure = { updates: [...texts, 'lost'], error: new Error(secret) }
    const thought = { type: 'reasoning', text: secret, protected: secret } as const
    const whole = { updates: [thought, ...reply, { finishReason: 'stop', raw: secret }] }
    return fails && retries ? [failure, whole] : [whole]
  })
  const last: Record<RandomRun['end'], ScriptedStep> = {
    text: { updates: ['The ', 'end.', { finishReason: 'stop', model: secret }] },
    pause: ['Shall I? ', callFunction('refund', { amount: 1 }, 'refund_1')],
    declared: ['Where? ', callFunction('locate', {}, 'locate_1')],
    failure: { updates: ['Half'], error: new Error(secret) },
  }
  // A run without calls ends with its first answer; what it repeats comes from the last step.
  const client = scriptedClient([...script, ...Array.from({ length: 12 }, () => last[end])], {
    chunk: 2,
  })
  return new Agent({
    client,
    instructions: secret,
    tools: [
      tool({ name: 'look', description: secret, execute: () => secret }),
      tool({ name: 'refund', description: secret, approval: 'always', execute: () => secret }),
      tool({ name: 'locate', description: secret }),
    ],
    middleware: middleware.map((kind) => made[kind]()),
    ...more,
  })
}

const made: Record<Kind, () => Middleware> = {
  retry: () => chatMiddleware('retry', (_, callNext) => callNext().catch(() => callNext())),
  'retry run': () =>
    agentMiddleware('retry run', (_, callNext) => callNext().catch(() => callNext())),
  replace: () =>
    agentMiddleware('replace', async (context, callNext) => {
      await callNext()
      if (context.result?.status === 'completed') context.result = 'Replaced.'
    }),
  block: () =>
    agentMiddleware('block', async (context, callNext) => {
      await callNext()
      if (context.result?.status !== 'completed') return
      throw new GuardrailTripped({
        guardrail: secret,
        level: 'agent',
        stage: 'output',
        category: secret,
        message: 'Blocked.',
      })
    }),
}

/** The end of a run: its text and status, or its failure. */
export async function endOf(
  run: RandomRun,
): Promise<{ readonly status: string; readonly text: string }> {
  try {
    const { status, text } = await agentOf(run).run('Hello', { stream: true }).finalResponse()
    return { status, text }
  } catch {
    return { status: 'failed', text: '' }
  }
}
