import type { CheckContext, GuardrailSubject, Verdict } from '@lamella/guardrail'
import type { InjectionAssessment } from './assess/assess-text.ts'
import { assessorOf } from './assess/assess-text.ts'
import { fileText } from './incoming/file-text.ts'
import type {
  InjectionAction,
  InjectionStage,
  PromptInjectionOptions,
} from './prompt-injection-options.ts'
import { attackSpan } from './incoming/strip-attack.ts'

/** Returns the action for an attack at a stage. */
export function actionAt(
  stage: InjectionStage,
  { action }: Pick<PromptInjectionOptions, 'action'>,
): InjectionAction {
  const given = typeof action === 'object' ? action[stage] : action
  return given ?? (stage === 'result' ? 'strip' : 'block')
}

function isFromTool({ stage, role }: GuardrailSubject): boolean {
  return stage === 'result' || (stage === 'file' && role === 'tool')
}

/** Creates the check of input. */
export function injectionCheck(
  assess: (text: string) => InjectionAssessment,
  options: PromptInjectionOptions,
): (subject: GuardrailSubject, context: CheckContext) => Verdict | Promise<Verdict> {
  const ofInput = scorer(assess, options)
  // Many agents have no tool, and the signs take a while to prepare.
  let ofResult: typeof ofInput | undefined
  const scoreOf = (subject: GuardrailSubject): typeof ofInput => {
    if (!isFromTool(subject)) return ofInput
    return (ofResult ??= scorer(assessorOf({ ...options, source: 'result' }), options))
  }
  return (subject, context) => {
    const score = scoreOf(subject)
    const text = subject.stage === 'file' ? fileText(subject.contents?.[0]) : subject.text
    if (text === undefined) return { action: 'unsupported' }
    const found = score(text, context)
    return 'then' in found
      ? found.then((assessment) => conclude(subject, text, assessment, options))
      : conclude(subject, text, found, options)
  }
}

/** Acts on an assessment of a text. */
export function conclude(
  { stage }: GuardrailSubject,
  text: string,
  { category = 'custom', matches, score: severity }: InjectionAssessment,
  options: Pick<PromptInjectionOptions, 'action' | 'threshold'>,
): Verdict {
  if (severity < (options.threshold ?? defaultThreshold)) return { action: 'allow' }
  const verdict = { category, severity, message: refusal }
  const action = actionAt(stage as InjectionStage, options)
  if (action !== 'strip') return { action, ...verdict }
  const span = matches.length > 0 ? attackSpan(text, matches) : { start: 0, end: text.length }
  if (stage !== 'file') return { action: 'replace', replacement: notice, spans: [span], ...verdict }
  const replacement = text.slice(0, span.start) + notice + text.slice(span.end)
  return { action: 'replace', replacement, ...verdict }
}

/**
 * Asks the classifier if the patterns are uncertain, and the judge if the classifier is uncertain.
 */
function scorer(
  assess: (text: string) => InjectionAssessment,
  { classifier, judge, escalate: [low, high] = [0.3, 0.8] }: PromptInjectionOptions,
): (text: string, context: CheckContext) => InjectionAssessment | Promise<InjectionAssessment> {
  const seconds = [classifier, judge].filter((second) => second !== undefined)
  const isSure = ({ score }: InjectionAssessment): boolean => score < low || score >= high
  const escalated = async (text: string, context: CheckContext, first: InjectionAssessment) => {
    let found = first
    for (const second of seconds) {
      const score = await second(text, context)
      if (typeof score !== 'number' || !(score >= 0 && score <= 1))
        throw new RangeError(`the score must be from 0 to 1, got ${String(score)}`)
      found = { ...found, score }
      if (isSure(found)) break
    }
    return found
  }
  return (text, context) => {
    const first = assess(text)
    return seconds.length === 0 || isSure(first) ? first : escalated(text, context, first)
  }
}

export const defaultThreshold = 0.6
export const refusal = 'This request was stopped by a safety check.'
const notice = '[removed: it tried to give orders]'
