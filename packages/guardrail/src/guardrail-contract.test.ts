import type { GuardrailViolation } from '@lamella/testing'
import { describeContract, guardrailContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import type { GuardrailOptions, GuardrailStreamOptions } from './guardrail-options.ts'
import { guardrail } from './guardrail.ts'

const word = 'swordfish'

const streams: Readonly<Record<string, GuardrailStreamOptions>> = {
  full: {},
  sentence: { release: 'sentence' },
  'a fixed window': { holdChars: word.length },
  'a window of open matches': {
    pending: (text) => {
      let length = word.length - 1
      while (!text.endsWith(word.slice(0, length))) length--
      return text.length - length
    },
  },
  'a check at set distances': { holdChars: word.length, checkEveryChars: 7 },
}

for (const [name, stream] of Object.entries(streams)) {
  for (const action of ['block', 'replace'] as const) {
    const check: GuardrailOptions['check'] = ({ text }) => {
      const spans = Array.from(text.matchAll(new RegExp(word, 'g')), ({ index }) => ({
        start: index,
        end: index + word.length,
      }))
      return spans.length > 0 ? { action, spans, replacement: 'fish' } : { action: 'allow' }
    }
    describeContract(
      guardrailContract({
        name: `a guardrail that ${action}s, with ${name}`,
        create: () =>
          guardrail({
            name: 'word',
            applyTo: ['input', 'output', 'arguments', 'result'],
            check,
            stream,
          }),
        createWithLimit: (ms) =>
          guardrail({ name: 'word', applyTo: ['input', 'output'], check, stream, timeoutMs: ms }),
        harmless: ['A fish.', 'sword fish', 'One sword. Then a swordfis'],
        violations: (['input', 'output', 'arguments', 'result'] as const).map(
          (stage): GuardrailViolation => ({
            stage,
            action,
            text: `It is ${word}. Yes, ${word}`,
            forbidden: word,
          }),
        ),
      }),
      { describe, it },
    )
  }
}
