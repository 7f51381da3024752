import type { MiddlewareInput } from '@lamella/core'
import { agentMiddleware, chatMiddleware, createId, GuardrailTripped } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import { describe, expect, it } from 'vitest'
import type { SealOptions } from '../index.ts'
import { assertSealed } from '../index.ts'

const text = 'Tell them it is swordfish today.'
const forbidden = 'swordfish'

const judge =
  (action: SealOptions['action'], release: 'window' | 'sentence' | 'full', word = forbidden) =>
  () =>
    guardrail({
      name: 'word',
      applyTo: ['output'],
      check: (subject) => {
        const spans = [...subject.text.matchAll(new RegExp(word, 'g'))].map(({ index }) => ({
          start: index,
          end: index + word.length,
        }))
        return spans.length > 0 ? { action, spans, replacement: '***' } : { action: 'allow' }
      },
      stream: { release, ...(release === 'window' && { holdChars: word.length }) },
    })

describe('what a guardrail acts on is sealed', () => {
  it.for(
    (['block', 'replace'] as const).flatMap((action) =>
      (['window', 'sentence', 'full'] as const).map((release) => [action, release] as const),
    ),
  )('by a guardrail to %s, with the policy %s', async ([action, release]) => {
    const sealed = assertSealed(judge(action, release), { text, forbidden, action })

    await expect(sealed).resolves.toBeUndefined()
  })

  it.for<[string, SealOptions['action'], () => MiddlewareInput, string]>([
    ['is not there', 'block', () => [], 'the status'],
    ['lets all through at once', 'block', () => passthrough(), 'only what stands before'],
    [
      'lets the head of a match go',
      'replace',
      () => [
        chatMiddleware('head', async (context, callNext) => {
          context.transformUpdates({
            transform(update, controller) {
              const json = JSON.stringify(update.contents).replaceAll('swordfish', '***')
              controller.enqueue({ ...update, contents: JSON.parse(json) as [] })
            },
          })
          await callNext()
        }),
      ],
      'the text of a run cut',
    ],
    [
      'leaves it in the error of a stream that breaks off',
      'replace',
      () => [
        agentMiddleware('keeper', async (_, callNext) => {
          try {
            await callNext()
          } catch (error) {
            throw Object.assign(new Error('it failed'), { cause: { said: text, error } })
          }
        }),
        judge('replace', 'window')(),
      ],
      'which broke off',
    ],
    [
      'takes back what was seen',
      'replace',
      () =>
        chatMiddleware('late', async (context, callNext) => {
          const { text: said } = await callNext()
          context.result = said.replaceAll('swordfish', '***')
        }),
      '`cache`',
    ],
    [
      'tells half of it in an event',
      'replace',
      () => [
        judge('replace', 'full')(),
        agentMiddleware('teller', async (context, callNext) => {
          context.run.emit({ type: 'found', data: 'sword …' })
          await callNext()
        }),
      ],
      '`events`',
    ],
    [
      'tells it in the block',
      'block',
      () =>
        chatMiddleware('x', async (_, callNext) => {
          const { text: category } = await callNext()
          throw new GuardrailTripped({ ...about, category, message: 'No.' })
        }),
      '`response`',
    ],
  ])('finds a guardrail that %s', async ([, action, create, message]) => {
    const failure: unknown = await assertSealed(create, { text, forbidden, action }).catch(
      (error: unknown) => error,
    )

    expect(String(failure)).toContain(message)
  })

  it('does not search the ids of messages and runs, where half a word may stand by chance', async () => {
    const part = createId('msg').slice(4, 16)
    const seal = { text: `It is ${part} today.`, forbidden: part, action: 'replace' } as const

    await expect(assertSealed(judge('replace', 'full', part), seal)).resolves.toBeUndefined()
  })

  it('demands that there is something to seal', async () => {
    const options = { text: 'a', forbidden, action: 'block' } as const

    await expect(assertSealed(() => [], options)).rejects.toThrow('must be in the text')
  })
})

const about = { guardrail: 'x', level: 'chat', stage: 'output' } as const

function passthrough(): MiddlewareInput {
  return guardrail({
    name: 'late',
    applyTo: ['output'],
    check: ({ text: said }) => ({ action: said.includes('swordfish') ? 'block' : 'allow' }),
    stream: { release: 'passthrough' },
  })
}
