import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import type { Content } from './content.ts'
import { text } from './content.ts'
import type { Guard, GuardPlace } from './guard.ts'
import { editContents, isUnknown, mapFiles, readableText } from './guarded-contents.ts'
import type { Message, Role } from './message.ts'
import type { RunContext } from './run-context.ts'
import type { GuardStage, GuardSubject } from './verdict.ts'

/** What a guard looks at of what goes in. */
export interface InputGuardOptions {
  readonly stages: ReadonlySet<GuardStage>
  readonly messages: 'new' | 'last-user' | 'all'
  readonly roles: readonly Role[]
  /** Whether the model may be reading already, so that nothing can be replaced any more. */
  readonly isReadOnly: boolean
}

/** What a run was found to have of what goes in, and what it became. */
interface Checked {
  readonly messages: WeakMap<Message, Message>
  readonly instructions: Map<string, string>
}

/** Makes the check of instructions and messages. It puts what was replaced on the context. */
export function inputGuard(
  guard: Guard,
  options: InputGuardOptions,
): (context: AgentContext | ChatContext, place: GuardPlace) => Promise<void> {
  const { stages, roles, isReadOnly } = options
  const checkedOf = new WeakMap<RunContext, Checked>()

  async function checkText(
    contents: readonly Content[],
    subject: Pick<GuardSubject, 'stage' | 'role'>,
    place: GuardPlace,
  ): Promise<readonly Content[]> {
    const whole: GuardSubject = { ...subject, text: readableText(contents), contents, final: true }
    if (contents.some(isUnknown)) guard.conclude(guard.unreadable(whole, place), whole, place)
    if (whole.text === '') return contents
    const verdict = await guard.ask(whole, place)
    const findings = guard.conclude(verdict, whole, place, isReadOnly)
    return findings === undefined ? contents : editContents(contents, findings)
  }

  async function checkMessage(entry: Message, place: GuardPlace): Promise<Message> {
    const { role } = entry
    const stage = role === 'system' ? 'instructions' : 'input'
    if (stage === 'input' && !roles.includes(role)) return entry
    let { contents } = entry
    if (stages.has(stage)) contents = await checkText(contents, { stage, role }, place)
    if (stages.has('file') && stage === 'input') {
      contents = await checkFiles(guard, contents, place, { role }, isReadOnly)
    }
    return contents === entry.contents ? entry : { ...entry, contents }
  }

  return async (context, place) => {
    let checked = checkedOf.get(context.run)
    if (checked === undefined) {
      checked = { messages: new WeakMap(), instructions: new Map() }
      checkedOf.set(context.run, checked)
    }
    const { instructions } = context
    if (instructions && stages.has('instructions')) {
      let safe = checked.instructions.get(instructions)
      if (safe === undefined) {
        const subject = { stage: 'instructions', role: 'system' } as const
        safe = readableText(await checkText([text(instructions)], subject, place))
        checked.instructions.set(instructions, safe)
      }
      if (safe !== instructions) context.instructions = safe
    }

    const { messages } = context
    const lastUser = messages.findLast(({ role }) => role === 'user')
    let changed: Message[] | undefined
    for (const [at, entry] of messages.entries()) {
      if (options.messages === 'last-user' && entry !== lastUser && entry.role !== 'system')
        continue
      let safe = options.messages === 'all' ? undefined : checked.messages.get(entry)
      if (safe === undefined) {
        safe = await checkMessage(entry, place)
        checked.messages.set(entry, safe)
      }
      if (safe !== entry) (changed ??= [...messages])[at] = safe
    }
    if (changed !== undefined) context.messages = changed
  }
}

/** Checks each file among contents. One that is to be replaced becomes a text. */
export function checkFiles(
  guard: Guard,
  contents: readonly Content[],
  place: GuardPlace,
  about: Partial<GuardSubject>,
  isReadOnly = false,
): Promise<readonly Content[]> {
  return mapFiles(contents, async (file) => {
    const subject: GuardSubject = {
      ...about,
      stage: 'file',
      text: '',
      contents: [file],
      final: true,
    }
    const verdict = await guard.ask(subject, place)
    const findings = guard.conclude(verdict, subject, place, isReadOnly)
    return findings === undefined ? file : text(verdict?.replacement ?? '')
  })
}
