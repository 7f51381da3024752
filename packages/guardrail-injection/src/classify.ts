import type { GuardrailMiddleware } from '@lamella/guardrail'
import { guardrail, guardrailOptions } from '@lamella/guardrail'
import { fileText } from './incoming/file-text.ts'
import { conclude } from './injection-check.ts'
import type { PromptInjectionOptions } from './prompt-injection-options.ts'

/** Judges the texts that the patterns let through by a model or a service. */
export function classified<Level extends 'agent' | 'chat'>(
  options: PromptInjectionOptions<Level>,
  name: string,
): readonly GuardrailMiddleware<Level>[] {
  const {
    applyTo = ['input', 'result', 'file'],
    action,
    classify,
    level,
    messages,
    roles,
  } = options
  const { assess, stages = applyTo, threshold = 0.5, timeoutMs = 5000, onError } = classify!
  return guardrail<Level>({
    ...guardrailOptions(options),
    name: `${name}-classify`,
    role: 'injection',
    level,
    messages,
    roles,
    applyTo: stages.filter((stage) => stage !== 'tools'),
    timeoutMs,
    onError,
    async check(subject, context) {
      const text = subject.stage === 'file' ? fileText(subject.contents?.[0]) : subject.text
      if (text === undefined || text.trim() === '') return { action: 'allow' }
      const score = await assess(text, context)
      if (!(score >= 0 && score <= 1)) {
        throw new RangeError(
          `\`classify.assess\` must return a number from 0 to 1, got ${typeof score}`,
        )
      }
      const found = { score, category: 'classified', matches: [] } as const
      return conclude(subject, text, found, { action, threshold })
    },
  })
}
