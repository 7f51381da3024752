import type { IdSource } from '../base/create-id.ts'
import { platformIds } from '../base/create-id.ts'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import { contentFields } from './chat-response.ts'
import type { ContentFold, Fields } from './content-fold.ts'
import {
  agree,
  appendText,
  continues,
  finishContent,
  foldContent,
  isEmpty,
  mergeContent,
  merged,
} from './content-fold.ts'
import type { Content, TextContent } from './content.ts'
import type { Message, Role } from './message.ts'
import type { Usage } from './usage.ts'
import { addUsage, laterUsage } from './usage.ts'

/**
 * Fields of the response as a whole. Replaced and never mutated, so that a mark can hold a
 * reference.
 */
interface Facts
  extends Pick<ChatResponse, 'id' | 'conversationId' | 'model' | 'finishReason'>,
    Partial<Pick<ChatResponse, 'metadata'>> {
  /** Usage of this model call; a later update replaces it. */
  readonly usage?: Usage
  /** Sum of usage contents and earlier model calls. */
  readonly spent: Usage
}

/** One message while its parts arrive. */
interface MessageFold {
  readonly role: Role
  readonly parts: ContentFold[]
  /** Undefined until an update has it. */
  id?: string
  /** The id that is given to a message without one. */
  ownId?: string
  fields: Omit<Message, 'id' | 'role' | 'contents'>
}

/** A place to go back to. */
interface Mark {
  readonly messages: number
  readonly facts: Facts
}

const start: Mark = { messages: 0, facts: { spent: {} } }

/**
 * Builds the response from updates as they pass. It keeps the folded content, not the updates. - An
 * update belongs to the message it names, else to the one before it, unless its role differs. Its
 * metadata belongs to the message if it names one or has contents, else to the response. - Text,
 * refusals and reasoning are joined with what is right before them in the message. - A fragment of
 * a call belongs to the call with its id, else to that with its index in the message; with neither,
 * to the part before it. Calls with tool results are complete. - Usage of updates is replaced
 * within a model call; usage contents and model calls add up.
 */
export class ResponseFold {
  readonly #ids: IdSource
  readonly #messages: MessageFold[] = []
  #open: MessageFold | undefined
  /** The text that the open message ends with. */
  #tail: ContentFold | undefined
  #facts = start.facts
  #mark: Mark | undefined
  /** The end of the last tool results. Ids from before it that come again are of something else. */
  #turn = start

  /** Ids of messages and calls that have none come from `ids`. */
  constructor(ids: IdSource = platformIds) {
    this.#ids = ids
  }

  /** Takes in an update. Of two that tell the same thing, the later one holds. */
  add(update: ChatResponseUpdate): void {
    const { contents } = update
    const isNews = this.#isNews(update)
    const tail = this.#tail
    if (tail !== undefined && !isNews && contents.length === 1 && isPlainText(contents[0]!)) {
      appendText(tail, contents[0].text)
      return
    }
    if (isNews) this.#learn(update)
    const open = this.#open!
    for (const content of contents) {
      const last = open.parts.at(-1)
      if (last?.content.type === 'text' && isPlainText(content)) appendText(last, content.text)
      else this.#addContent(open.parts, content, last)
    }
    const last = open.parts.at(-1)
    this.#tail = last?.content.type === 'text' ? last : undefined
    if (open.role === 'tool' && contents.length > 0 && !open.parts.every(isEmpty)) {
      const end = this.#messages.indexOf(open) + 1
      // Late results of an earlier turn do not end the present one.
      if (end > this.#turn.messages || end === this.#messages.length) this.#endTurn(end)
    }
  }

  /**
   * The response so far. What no update told is taken from `base`, but for its content and `raw`,
   * which may hold what a middleware has taken out.
   */
  response(base: Partial<ChatResponse> = {}): ChatResponse {
    const { raw: _, ...rest } = base
    const { usage, spent, metadata, ...told } = this.#facts
    const messages = this.#messages.flatMap((message): Message[] => {
      const contents = message.parts
        .filter((part) => !isEmpty(part))
        .map((part) => finishContent(part, this.#ids))
      if (contents.length === 0) return []
      const id = message.id ?? (message.ownId ??= this.#ids.createId('msg'))
      return [{ id, role: message.role, contents, ...message.fields }]
    })
    return {
      ...rest,
      ...told,
      messages,
      ...contentFields(messages),
      usage: { ...base.usage, ...addUsage(spent, usage) },
      metadata: { ...base.metadata, ...metadata },
    }
  }

  /**
   * Says that a model call begins here, which is what a later update with `restart` goes back to.
   * Without any mark that is the last message of tool results, or the start.
   */
  mark(): void {
    this.#mark = this.#endTurn(this.#messages.length)
    this.#open = undefined
  }

  #isNews(update: ChatResponseUpdate): boolean {
    const open = this.#open
    const facts = this.#facts
    return (
      open === undefined ||
      open.role === 'tool' ||
      (update.messageId ?? open.id) !== open.id ||
      (update.role ?? open.role) !== open.role ||
      (update.createdAt ?? open.fields.createdAt) !== open.fields.createdAt ||
      (update.responseId ?? facts.id) !== facts.id ||
      (update.model ?? facts.model) !== facts.model ||
      (update.finishReason ??
        update.usage ??
        update.metadata ??
        update.restart ??
        update.authorName ??
        update.conversationId ??
        update.origin) !== undefined
    )
  }

  #learn(update: ChatResponseUpdate): void {
    if (update.restart) this.#restart(update.scope)
    const { messageId, responseId, usage, contents } = update
    const open = (this.#open = this.#messageFor(update))
    if (messageId) open.id = messageId
    const isOfMessage = messageId || contents.length > 0
    const ofMessage = ['authorName', 'createdAt', 'origin']
    const ofAll = ['id', 'conversationId', 'model', 'finishReason']
    ;(isOfMessage ? ofMessage : ofAll).push('metadata')
    open.fields = merged(open.fields, update, ofMessage)
    this.#facts = merged(this.#facts, { ...update, id: responseId }, ofAll)
    if (usage) this.#facts = { ...this.#facts, usage: laterUsage(this.#facts.usage ?? {}, usage) }
  }

  #messageFor({ messageId, role, contents }: ChatResponseUpdate): MessageFold {
    const messages = this.#messages
    const named = messages.findLast(
      ({ id, role: its }, at) =>
        messageId &&
        id === messageId &&
        its === (role ?? its) &&
        at >= ((its === 'tool' ? this.#mark : this.#turn)?.messages ?? 0),
    )
    if (named) return named
    const open = this.#open
    const isOpen =
      open &&
      agree(messageId, open.id) &&
      (role ? role === open.role : open.role !== 'tool' || contents.every(isResult))
    if (!isOpen) messages.push({ role: role ?? 'assistant', parts: [], fields: {} })
    return isOpen ? open : messages.at(-1)!
  }

  #addContent(parts: ContentFold[], content: Content, last: ContentFold | undefined): void {
    if (content.type === 'usage') {
      this.#facts = { ...this.#facts, spent: addUsage(this.#facts.spent, content.usage) }
      return
    }
    let known = this.#partFor(parts, content)
    if (!known && last && isEmpty(last)) {
      parts.pop()
      known = this.#partFor(parts, content)
    }
    if (known) mergeContent(known, content)
    else parts.push(foldContent(content))
  }

  /** The part that a content is more of: the last one, one of its id, or the call it is from. */
  #partFor(parts: readonly ContentFold[], content: Content): ContentFold | '' | undefined {
    const find = (among: readonly ContentFold[], isIt: (was: Fields) => boolean) =>
      among.findLast(({ content: was }) => was.type === content.type && isIt(was as Fields))
    const last = parts.slice(-1)
    if (content.type === 'hosted') return content.id && find(parts, ({ id }) => id === content.id)
    if (content.type !== 'function-call') return find(last, (was) => continues(was, content))
    const { callId, index, name } = content
    const ofTurn = () =>
      this.#messages.slice(this.#turn.messages).flatMap((message) => message.parts)
    return (
      (callId && find(ofTurn(), (was) => was.callId === callId && agree(was.index, index))) ||
      find(
        index === undefined ? last : parts,
        (was) =>
          was.index === (index ?? was.index) && agree(was.callId, callId) && agree(was.name, name),
      )
    )
  }

  #endTurn(messages: number): Mark {
    const { usage, ...facts } = this.#facts
    this.#facts = { ...facts, spent: addUsage(facts.spent, usage) }
    return (this.#turn = { messages, facts: this.#facts })
  }

  #restart(scope: ChatResponseUpdate['scope']): void {
    if (scope === 'run') {
      this.#mark = undefined
      this.#turn = start
    }
    const { messages, facts } = (this.#turn = this.#mark ?? this.#turn)
    this.#messages.length = messages
    this.#facts = facts
    this.#open = undefined
  }
}

/** The response that updates make up. */
export function foldUpdates(updates: Iterable<ChatResponseUpdate>): ChatResponse {
  const fold = new ResponseFold()
  for (const update of updates) fold.add(update)
  return fold.response()
}

/** Returns true for a content that holds nothing but text. */
function isPlainText(content: Content): content is TextContent {
  return (
    content.type === 'text' &&
    (content.annotations ?? content.metadata ?? content.origin ?? content.providerData) ===
      undefined
  )
}

function isResult({ type }: Content): boolean {
  return type === 'function-result'
}
