import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import { text } from './content.ts'
import type { Guard, GuardPlace } from './guard.ts'
import { checkContents, readableText } from './guarded-contents.ts'
import type { Message, Role } from './message.ts'
import type { RunContext } from './run-context.ts'
import type { GuardStage } from './verdict.ts'

/** What a guard looks at of what goes in. */
export interface InputGuardOptions {
  readonly stages: readonly GuardStage[]
  readonly messages: 'new' | 'last-user' | 'all'
  readonly roles: readonly Role[]
}

/** Makes the check of instructions and messages. It puts what was replaced on the context. */
export function inputGuard(
  guard: Guard,
  { stages, messages: which, roles }: InputGuardOptions,
): (context: AgentContext | ChatContext, place: GuardPlace) => Promise<void> {
  /** What a run was found to have of what goes in, and what it became. */
  const checkedOf = new WeakMap<RunContext, Map<Message | string, Message | string>>()

  async function checkMessage(entry: Message, place: GuardPlace): Promise<Message> {
    const { role, contents } = entry
    const stage = role === 'system' ? 'instructions' : 'input'
    if (stage === 'input' ? !roles.includes(role) : !stages.includes(stage)) return entry
    const safe = await checkContents(guard, stages, contents, { stage, role }, place)
    return safe === contents ? entry : { ...entry, contents: safe }
  }

  return async (context, place) => {
    const { run, instructions, messages } = context
    const checked = checkedOf.get(run) ?? new Map<Message | string, Message | string>()
    checkedOf.set(run, checked)
    if (instructions) {
      let safe = checked.get(instructions)
      if (safe === undefined) {
        const contents = [text(instructions)]
        const about = { stage: 'instructions', role: 'system' } as const
        safe = readableText(await checkContents(guard, stages, contents, about, place))
        checked.set(instructions, safe)
      }
      if (safe !== instructions) context.instructions = safe as string
    }
    const lastUser = messages.findLast(({ role }) => role === 'user')
    const safe: Message[] = []
    for (const entry of messages) {
      const isSkipped = which === 'last-user' && entry !== lastUser && entry.role !== 'system'
      if (!isSkipped && (which === 'all' || !checked.has(entry))) {
        checked.set(entry, await checkMessage(entry, place))
      }
      safe.push(isSkipped ? entry : (checked.get(entry) as Message))
    }
    if (safe.some((entry, at) => entry !== messages[at])) context.messages = safe
  }
}
