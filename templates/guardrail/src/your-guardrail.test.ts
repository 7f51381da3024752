import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Agent } from '@lamella/core'
import { describeContract, guardrailContract, scriptedClient } from '@lamella/testing'
import { yourGuardrail } from './index.ts'

// The contract of every guardrail: what it forbids reaches no update, message, event or session, however it is split.
describeContract(
  guardrailContract({
    create: () => yourGuardrail({ words: ['plugh', 'xyzzy'] }),
    createWithLimit: (ms) => yourGuardrail({ words: ['xyzzy'], timeoutMs: ms }),
    harmless: ['The quick brown fox.'],
    violations: (['input', 'output', 'arguments', 'result'] as const).map((stage) => ({
      stage,
      text: 'Say xyzzy twice.',
      forbidden: 'xyzzy',
      action: 'replace' as const,
    })),
  }),
  { describe, it },
)

describe('yourGuardrail', () => {
  it('removes words, whatever their case', async () => {
    const agent = new Agent({
      client: scriptedClient(['I say XYZZY and plugh.']),
      middleware: yourGuardrail({ words: ['plugh', 'xyzzy'] }),
    })

    assert.equal((await agent.run('Hello')).text, 'I say … and ….')
  })

  it('names an invalid option', () => {
    assert.throws(() => yourGuardrail({ words: [] }), /`words`/)
    assert.throws(() => yourGuardrail({ words: ['(a+)+'] }), /`words`/)
    assert.throws(
      () => yourGuardrail({ words: ['a'], mod: 'off' } as never),
      /`mod`; did you mean `mode`/,
    )
  })
})
