import type {
  CheckContext,
  GuardrailContext,
  GuardrailMiddleware,
  GuardrailSubject,
  Verdict,
} from '@lamella/guardrail'
import type { Message } from '@lamella/core'
import { guardrail, guardrailOptions } from '@lamella/guardrail'
import { messageText, textOf } from '@lamella/core'
import { judgeCalls } from './judge-budget.ts'
import type { JudgeCriterion } from './judge-criterion.ts'
import type { JudgedData } from './judge-request.ts'
import type { JudgeOutcome } from './judge.ts'
import { judgeOf } from './judge.ts'
import type { LlmJudgeOptions } from './llm-judge-options.ts'
import { checkLlmJudgeOptions, criteriaOf } from './llm-judge-options.ts'
import { verdictCache } from './verdict-cache.ts'

/**
 * Has another model judge texts by your criteria. The judged text is sent as data, and only an answer of
 * exactly the right form counts as a verdict.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { llmJudge } from '@lamella/guardrail-judge'
 * import { scriptedClient } from '@lamella/testing'
 *
 * // Replaces a judging model: it objects to every price.
 * const judge = scriptedClient(({ instructions = '', messages }) => {
 *   const [ticket] = instructions.match(/verdict_\w+/) ?? []
 *   return JSON.stringify({ ticket, scores: { prices: JSON.stringify(messages).includes('$') ? 1 : 0 } })
 * })
 * const agent = new Agent({
 *   client: scriptedClient(['It costs $5, I promise.']),
 *   middleware: llmJudge({
 *     client: judge,
 *     criteria: [{ id: 'prices', question: 'Does the text name a price?', failIf: 'yes' }],
 *   }),
 * })
 *
 * console.log((await agent.run('How much is it?')).status) // blocked
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function llmJudge<Level extends 'agent' | 'chat' = 'agent' | 'chat'>(
  options: LlmJudgeOptions<Level>,
): readonly GuardrailMiddleware<Level>[] {
  checkLlmJudgeOptions(options)
  const criteria = criteriaOf('llmJudge', options)
  const { applyTo = ['output'], budget = {}, cacheVerdicts = {}, name = 'judge' } = options
  const { client, clock, model, random, sampleRate = 1, when = () => true } = options
  const judge = judgeOf(options, criteria)
  const hasSources = criteria.some(({ sources }) => sources === true)
  const { combine, reasoning, samples, threshold } = options
  // Everything a verdict depends on besides the text.
  const about = [
    client.provider,
    model ?? client.model,
    criteria,
    combine,
    reasoning,
    samples,
    threshold,
  ]
  const cached = cacheVerdicts && verdictCache(cacheVerdicts, clock)

  return guardrail<Level>({
    ...guardrailOptions(options),
    timeoutMs: options.timeoutMs ?? 30_000,
    name,
    role: 'judge',
    applyTo,
    when: async (context) =>
      (await when(context)) && (sampleRate === 1 || (random ?? context.run.random)() < sampleRate),
    async check(subject, context) {
      const data = dataOf(subject, context, { ...options, hasSources })
      const { run, signal } = context
      const ask = (): Promise<JudgeOutcome> =>
        judge(data, judgeCalls(name, budget, run, signal), run.ids)
      const asked = [...about, run.tenant, run.principal, data].map((part) => part ?? null)
      return verdictOf(cached ? await cached(asked, ask, run) : await ask(), criteria, options)
    },
  })
}

function dataOf(
  { stage, text }: GuardrailSubject,
  { call, run }: CheckContext,
  {
    blind = true,
    contextTurns = 1,
    hasSources,
  }: Pick<LlmJudgeOptions, 'blind' | 'contextTurns'> & { readonly hasSources: boolean },
): JudgedData {
  const messages = 'messages' in call ? call.messages : run.messages.all
  const said = messages.filter(({ role }) => role === 'user' || role === 'assistant').map(turn)
  const before = said.filter(
    (entry) => entry.text !== '' && (stage !== 'input' || entry.text !== text),
  )
  const conversation = before.slice(Math.max(0, before.length - contextTurns))
  const agentInstructions = blind ? undefined : instructionsOf(call)
  return {
    text,
    ...(conversation.length > 0 && { conversation }),
    ...(hasSources && { sources: sourcesOf(messages) }),
    ...(agentInstructions && { agentInstructions }),
  }
}

function sourcesOf(messages: readonly Message[]): readonly string[] {
  const results = messages.flatMap(({ contents }) =>
    contents.filter((content) => content.type === 'function-result'),
  )
  return results
    .slice(-maxSources)
    .map((result) => textOf(result.contents).slice(0, maxSourceChars))
}

const maxSources = 20
const maxSourceChars = 4000

const turn = (message: Message): { readonly role: string; readonly text: string } => ({
  role: message.role,
  text: messageText(message).slice(-maxTurnChars),
})

const maxTurnChars = 2000

function instructionsOf(middleware: GuardrailContext): string | undefined {
  return 'instructions' in middleware ? middleware.instructions : undefined
}

function verdictOf(
  { passed, reason, score, worst }: JudgeOutcome,
  criteria: readonly JudgeCriterion[],
  { action = 'block', replacement = '[removed]' }: Pick<LlmJudgeOptions, 'action' | 'replacement'>,
): Verdict {
  const found = { category: worst, severity: 1 - score }
  if (passed) return { action: 'allow' }
  if (action === 'replace') return { action, replacement, ...found }
  if (action !== 'retry') return { action, ...found }
  const { feedback, question } = criteria.find(({ id }) => id === worst)!
  const asked = feedback ?? `Your answer did not pass this check: ${question}`
  return { action, feedback: reason === undefined ? asked : `${asked} ${reason}`, ...found }
}
