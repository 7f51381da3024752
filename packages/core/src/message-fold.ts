import type { Content, FunctionCallContent } from './content.ts'
import { agree, ContentFold, continues } from './content-fold.ts'
import { createId } from './create-id.ts'
import type { Message, Role } from './message.ts'

/** One message of a response while its parts arrive. */
export class MessageFold {
  readonly role: Role
  /** Missing until an update tells it. */
  id: string | undefined
  fields: Omit<Message, 'id' | 'role' | 'contents'> = {}
  #parts: ContentFold[] = []
  #generatedId: string | undefined

  constructor(role: Role) {
    this.role = role
  }

  /** Appends content that is text and nothing else to a text at the end, if that is what these are. */
  append(content: Content): boolean {
    const last = this.#parts.at(-1)
    if (
      last === undefined ||
      content.type !== 'text' ||
      last.content.type !== 'text' ||
      content.annotations !== undefined ||
      content.metadata !== undefined ||
      content.origin !== undefined ||
      content.providerData !== undefined
    ) {
      return false
    }
    last.append(content.text)
    return true
  }

  add(content: Content): void {
    if (content.type === 'hosted' && content.id) {
      const known = this.#parts.find(
        (part) => part.content.type === 'hosted' && part.content.id === content.id,
      )
      if (known !== undefined) {
        known.content = content
        return
      }
    }
    const last = this.#parts.at(-1)
    if (last !== undefined && continues(last.content, content)) last.merge(content)
    else if (this.#dropEmpty()) this.add(content)
    else this.#parts.push(new ContentFold(content))
  }

  /** The call with the fragment's id. Where calls are counted too, the count tells two of one id apart. */
  callWithId({ callId, index }: FunctionCallContent): ContentFold | undefined {
    return this.#parts.findLast(
      ({ content }) =>
        content.type === 'function-call' &&
        content.callId === callId &&
        agree(content.index, index),
    )
  }

  /** The call that is counted like the fragment or, if neither id nor count is told, the part before it. */
  callWithoutId({ callId, index, name }: FunctionCallContent): ContentFold | undefined {
    const last = this.#parts.findLast((part) => !part.isEmpty)
    return this.#parts.findLast(
      (part) =>
        part.content.type === 'function-call' &&
        (index === undefined ? !callId && part === last : part.content.index === index) &&
        agree(part.content.callId, callId) &&
        agree(part.content.name, name),
    )
  }

  /** Whether it is a message of tool results that holds any. */
  get hasResults(): boolean {
    return this.role === 'tool' && this.#parts.some((part) => !part.isEmpty)
  }

  finish(): Message | undefined {
    const contents = this.#parts.filter((part) => !part.isEmpty).map((part) => part.finish())
    if (contents.length === 0) return undefined
    const id = this.id ?? (this.#generatedId ??= createId('msg'))
    return { id, role: this.role, contents, ...this.fields }
  }

  // Only the last part can be empty: a text that nothing was added to is dropped for the next part.
  #dropEmpty(): boolean {
    if (!this.#parts.at(-1)?.isEmpty) return false
    this.#parts.pop()
    return true
  }
}
