import type { AgentContext, Message, Role } from '@lamella/core'
import { text, messageText } from '@lamella/core'
import { perRun } from '@lamella/core/authoring'
import type { Guardrail, GuardrailPlace } from './guardrail-check.ts'
import { checkContents, checkText, readableText } from './judged-contents.ts'
import type { GuardrailStage } from './verdict.ts'

/** Selection of the input that a guardrail checks. */
export interface InputGuardrailOptions {
  readonly stages: readonly GuardrailStage[]
  readonly messages: 'new' | 'last-user' | 'all'
  readonly roles: readonly Role[]
}

/** Context that a guardrail judges: the input of a run or a model call, or messages that join a run. */
export interface JudgedInput {
  readonly run: AgentContext['run']
  instructions: string | undefined
  messages: readonly Message[]
}

/** Creates the check of instructions and messages. It sets edited ones on the context. */
export function inputGuardrail(
  guardrail: Guardrail,
  { stages, messages: which, roles }: InputGuardrailOptions,
): (context: JudgedInput, place: GuardrailPlace) => Promise<void> {
  /** Checked messages and instructions of a run, with their edited forms. */
  const checkedOf = perRun(() => new Map<Message | string, Message | string>())

  async function checkMessage(
    entry: Message,
    place: GuardrailPlace,
    before: string,
  ): Promise<Message> {
    const { role, contents, authorName } = entry
    const stage = role === 'system' ? 'instructions' : 'input'
    if (stage === 'input' ? !roles.includes(role) : !stages.includes(stage)) return entry
    const about = { stage, role } as const
    const safe = await checkContents(guardrail, stages, contents, about, place, { before })
    const author =
      authorName && authorName !== place.middleware.run.agentName && stages.includes(stage)
        ? await checkText(guardrail, authorName, about, place)
        : authorName
    if (safe === contents && author === authorName) return entry
    return { ...entry, contents: safe, ...(author !== undefined && { authorName: author }) }
  }

  return async (context, place) => {
    const { run, instructions, messages } = context
    const checked = checkedOf(run)
    if (instructions) {
      let safe = checked.get(instructions)
      if (safe === undefined) {
        const contents = [text(instructions)]
        const about = { stage: 'instructions', role: 'system' } as const
        safe = readableText(await checkContents(guardrail, stages, contents, about, place))
        checked.set(instructions, safe)
      }
      context.instructions = safe as string
    }
    const lastUser = messages.findLast(({ role }) => role === 'user')
    const safe: Message[] = []
    // Text that a reader sees before a message: of the same role, since the other role spoke.
    let before = ''
    let speaker: Role | undefined
    for (const entry of messages) {
      if (entry.role !== 'tool' && entry.role !== speaker) {
        speaker = entry.role
        before = ''
      }
      const isSkipped = which === 'last-user' && entry !== lastUser && entry.role !== 'system'
      if (!isSkipped && (which === 'all' || !checked.has(entry))) {
        const joint = entry.role === 'tool' ? '' : before
        checked.set(entry, await checkMessage(entry, place, joint))
      }
      const read = isSkipped ? entry : (checked.get(entry) as Message)
      before = (before + messageText(read)).slice(-lookBehindChars)
      safe.push(read)
    }
    if (safe.some((entry, at) => entry !== messages[at])) context.messages = safe
  }
}

const lookBehindChars = 64
