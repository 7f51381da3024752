import type {
  ChatMiddleware,
  FunctionInvocationContext,
  FunctionResult,
  MiddlewareInput,
} from '@lamella/core'
import {
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  GuardrailTripped,
} from '@lamella/core'
import { describe, expect, it } from 'vitest'
import type { JudgedStage, GuardrailViolation } from '../index.ts'
import { describeContract, guardrailContract } from '../index.ts'

const word = 'swordfish'

function trip(level: 'agent' | 'chat' | 'function', stage: JudgedStage): never {
  throw new GuardrailTripped({ guardrail: 'word', level, stage, category: 'word', message: 'No.' })
}

/** Holds all text back until it has been judged. */
function outputGuardrail(judge: (text: string) => string): ChatMiddleware {
  const process: ChatMiddleware['process'] = async (context, callNext) => {
    let held = ''
    context.transformUpdates({
      start: () => {
        held = ''
      },
      transform(update, controller) {
        for (const content of update.contents) if (content.type === 'text') held += content.text
        const contents = update.contents.filter(({ type }) => type !== 'text')
        controller.enqueue({ ...update, contents })
      },
      flush: (controller) =>
        controller.enqueue({ contents: [{ type: 'text', text: judge(held) }] }),
    })
    await callNext()
  }
  return { level: 'chat', name: 'word-output', process, processAnswer: process }
}

async function blockAnswers(_: unknown, callNext: () => Promise<FunctionResult>): Promise<void> {
  const { contents } = await callNext()
  if (JSON.stringify(contents).includes(word)) trip('function', 'result')
}

async function replaceAnswers(
  context: FunctionInvocationContext,
  callNext: () => Promise<FunctionResult>,
): Promise<void> {
  const { contents } = await callNext()
  context.result = contents.map((content) =>
    content.type === 'text' ? { ...content, text: content.text.replaceAll(word, '***') } : content,
  )
}

const blocking = (): MiddlewareInput => [
  agentMiddleware('word-input', async (context, callNext) => {
    if (JSON.stringify(context.messages).includes(word)) trip('agent', 'input')
    await callNext()
  }),
  outputGuardrail((text) => (text.includes(word) ? trip('chat', 'output') : text)),
  {
    ...functionMiddleware('word-tools', async (context, callNext) => {
      if (JSON.stringify(context.arguments).includes(word)) trip('function', 'arguments')
      await blockAnswers(context, callNext)
    }),
    processAnswer: blockAnswers,
  },
]

const replacing = (): MiddlewareInput => [
  chatMiddleware('word-input', async (context, callNext) => {
    context.messages = JSON.parse(
      JSON.stringify(context.messages).replaceAll(word, '***'),
    ) as typeof context.messages
    await callNext()
  }),
  outputGuardrail((text) => text.replaceAll(word, '***')),
  {
    ...functionMiddleware('word-tools', async (context, callNext) => {
      context.arguments = { text: String(context.arguments['text']).replaceAll(word, '***') }
      await replaceAnswers(context, callNext)
    }),
    processAnswer: replaceAnswers,
  },
]

function violations(action: GuardrailViolation['action']): GuardrailViolation[] {
  return (['input', 'output', 'arguments', 'result'] as const).map((stage) => ({
    stage,
    text: `The password is ${word}.`,
    forbidden: word,
    action,
  }))
}

const harmless = ['The quick brown fox.', 'sword', 'fish 🐟']

describeContract(
  guardrailContract({
    name: 'a guardrail that blocks',
    create: blocking,
    harmless,
    violations: violations('block'),
  }),
  { describe, it },
)
describeContract(
  guardrailContract({
    name: 'a guardrail that replaces',
    create: replacing,
    harmless,
    violations: violations('replace'),
  }),
  { describe, it },
)

describe('the guardrail contract', () => {
  it.for<[string, () => MiddlewareInput, GuardrailViolation['action'], string]>([
    ['is not there', () => [], 'block', 'input: blocks violation 1 before it is released'],
    [
      'looks when all is said',
      () =>
        chatMiddleware('late', async (_, callNext) => {
          const { text } = await callNext()
          if (text.includes(word)) trip('chat', 'output')
        }),
      'block',
      'output: blocks violation 2 before it is released',
    ],
    [
      'looks at each piece',
      () =>
        chatMiddleware('piecewise', async (context, callNext) => {
          context.transformUpdates({
            transform(update, controller) {
              const json = JSON.stringify(update.contents).replaceAll(word, '***')
              controller.enqueue({
                ...update,
                contents: JSON.parse(json) as typeof update.contents,
              })
            },
          })
          await callNext()
        }),
      'replace',
      'output: replaces violation 2 before it is released',
    ],
    [
      'tells what it found',
      () => [
        blocking(),
        agentMiddleware('teller', async (context, callNext) => {
          context.run.emit({ type: 'found', data: word })
          await callNext()
        }),
      ],
      'block',
      'output: blocks violation 2 before it is released',
    ],
    [
      'judges only what a model says',
      () => {
        const all = outputGuardrail((text) => (text.includes(word) ? trip('chat', 'output') : text))
        return chatMiddleware('model only', (context, callNext) => all.process(context, callNext))
      },
      'block',
      'output: blocks violation 2 as the answer of a tool',
    ],
    [
      'blocks everything',
      () => agentMiddleware('all', () => trip('agent', 'input')),
      'block',
      'output: passes harmless texts, plain and streamed',
    ],
  ])('catches a guardrail that %s', async ([, create, action, name]) => {
    const suite = guardrailContract({ create, harmless, violations: violations(action) })
    const failed: string[] = []
    for (const check of suite.checks) await check.run().catch(() => failed.push(check.name))

    expect(failed).toContain(name)
  })
})
