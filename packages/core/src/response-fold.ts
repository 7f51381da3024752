import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import { contentFields, tellCallsApart } from './chat-response.ts'
import type { Content, FunctionCallContent } from './content.ts'
import type { ContentFold } from './content-fold.ts'
import { agree } from './content-fold.ts'
import type { Message } from './message.ts'
import { MessageFold } from './message-fold.ts'
import type { Usage } from './usage.ts'
import { addUsage } from './usage.ts'

/** What is known of the response as a whole. Replaced, never changed, so that a mark may keep it. */
interface Facts {
  readonly id?: ChatResponse['id']
  readonly conversationId?: ChatResponse['conversationId']
  readonly model?: ChatResponse['model']
  readonly finishReason?: ChatResponse['finishReason']
  readonly metadata?: ChatResponse['metadata']
  /** As the updates of this model call told it; a later update tells it anew. */
  readonly usage?: Usage | undefined
  /** The sum of what usage contents and earlier model calls told. */
  readonly spent: Usage
}

/** An update made from a message here, which tells where the message is from. */
type OwnUpdate = ChatResponseUpdate & Pick<Message, 'origin'>

interface Mark {
  readonly messages: number
  readonly facts: Facts
}

const start: Mark = { messages: 0, facts: { spent: {} } }

/**
 * Builds the response from updates as they pass. It keeps the folded content, not the updates.
 *
 * - An update belongs to the message it names, else to the one before it, unless its role differs.
 *   Its metadata belongs to the message if it names one or has contents, else to the response.
 * - Text, refusals and reasoning are joined with what is right before them in the message.
 * - A fragment of a call belongs to the call with its id, else to that with its index in the
 *   message; with neither, to the part before it. Calls with tool results are complete.
 * - Usage of updates is told anew within a model call; usage contents and model calls add up.
 */
export class ResponseFold {
  #messages: MessageFold[] = []
  #open: MessageFold | undefined
  #facts = start.facts
  #mark = start
  #isMarked = false
  /** Messages before this one have their tool results: ids that come again are of something else. */
  #turn = 0

  /** Takes in an update. Of two that tell the same thing, the later one holds. */
  add(update: ChatResponseUpdate): void {
    if (!this.#isKnown(update)) this.#learn(update)
    const open = this.#open!
    const { contents } = update
    if (contents.length === 1 && open.append(contents[0]!)) return
    for (const content of contents) this.#addContent(open, content)
    if (contents.length > 0 && open.hasResults) {
      const end = this.#messages.indexOf(open) + 1
      // Late results of an earlier turn: the present one goes on.
      if (end < this.#messages.length && end <= this.#turn) return
      const here = this.#endTurn(end)
      if (!this.#isMarked) this.#mark = here
    }
  }

  /** The messages so far. */
  messages(): readonly Message[] {
    return this.#messages.map((fold) => fold.finish()).filter((message) => message !== undefined)
  }

  /**
   * The response so far. What no update told is taken from `base`, but for its content and `raw`,
   * which may hold what a layer has taken out.
   */
  response(base: Partial<ChatResponse> = {}): ChatResponse {
    const { raw: _, ...rest } = base
    const { usage, spent, metadata, ...told } = this.#facts
    const messages = this.messages()
    return {
      ...rest,
      ...told,
      messages,
      ...contentFields(messages),
      usage: { ...base.usage, ...addUsage(spent, usage) },
      metadata: { ...base.metadata, ...metadata },
    }
  }

  /** Forgets everything. */
  reset(): void {
    this.#mark = start
    this.#isMarked = false
    this.#restart()
  }

  /**
   * Says that a model call begins here, which is what a later update with `restart` goes back to.
   * Without any mark that is the last message of tool results, or the start.
   */
  mark(): void {
    this.#mark = this.#endTurn(this.#messages.length)
    this.#isMarked = true
    this.#open = undefined
  }

  #isKnown(update: ChatResponseUpdate): boolean {
    const open = this.#open
    const facts = this.#facts
    return (
      open !== undefined &&
      open.role !== 'tool' &&
      isSame(update.messageId, open.id) &&
      isSame(update.role, open.role) &&
      isSame(update.authorName, open.fields.authorName) &&
      isSame(update.createdAt, open.fields.createdAt) &&
      isSame(update.responseId, facts.id) &&
      isSame(update.conversationId, facts.conversationId) &&
      isSame(update.model, facts.model) &&
      isSame(update.finishReason, facts.finishReason) &&
      update.usage === undefined &&
      update.metadata === undefined &&
      update.restart === undefined
    )
  }

  #learn(update: ChatResponseUpdate): void {
    if (update.restart && update.scope === 'run') this.reset()
    else if (update.restart) this.#restart()

    const open = (this.#open = this.#messageFor(update))
    const { messageId, authorName, createdAt, origin } = update as OwnUpdate
    if (messageId) open.id = messageId
    open.fields = { ...open.fields, ...defined({ authorName, createdAt, origin }) }

    const { responseId: id, conversationId, model, finishReason, usage, metadata } = update
    const facts = { ...this.#facts, ...defined({ id, conversationId, model, finishReason }) }
    if (usage) facts.usage = { ...facts.usage, ...defined(usage) }
    if (metadata) {
      const owner: { metadata?: Message['metadata'] } =
        messageId || update.contents.length > 0 ? open.fields : facts
      owner.metadata = { ...owner.metadata, ...metadata }
    }
    this.#facts = facts
  }

  #messageFor({ messageId, role, contents }: ChatResponseUpdate): MessageFold {
    const open = this.#open
    const isOpen =
      open !== undefined &&
      agree(messageId, open.id) &&
      (role === undefined
        ? open.role !== 'tool' || messageId || contents.every(isResult)
        : role === open.role)
    if (messageId && !(isOpen && messageId === open.id)) {
      const first = this.#isMarked ? this.#mark.messages : 0
      const named = this.#messages.findLast(
        (message, at) =>
          message.id === messageId &&
          agree(role, message.role) &&
          at >= (message.role === 'tool' ? first : this.#turn),
      )
      if (named !== undefined) return named
    }
    if (isOpen) return open
    const message = new MessageFold(role ?? 'assistant')
    this.#messages.push(message)
    return message
  }

  #addContent(open: MessageFold, content: Content): void {
    if (content.type === 'usage') {
      this.#facts = { ...this.#facts, spent: addUsage(this.#facts.spent, content.usage) }
    } else {
      const call = content.type === 'function-call' && this.#callFor(open, content)
      if (call) call.merge(content)
      else open.add(content)
    }
  }

  #callFor(open: MessageFold, fragment: FunctionCallContent): ContentFold | undefined {
    for (let at = this.#messages.length; fragment.callId && --at >= this.#turn; ) {
      const call = this.#messages[at]!.callWithId(fragment)
      if (call !== undefined) return call
    }
    return open.callWithoutId(fragment)
  }

  #endTurn(messages: number): Mark {
    const { usage, ...facts } = this.#facts
    if (usage) this.#facts = { ...facts, spent: addUsage(facts.spent, usage) }
    this.#turn = messages
    return { messages, facts: this.#facts }
  }

  #restart(): void {
    const { messages, facts } = this.#mark
    this.#messages.length = messages
    this.#facts = facts
    this.#turn = messages
    this.#open = undefined
  }
}

/** The response that updates make up. */
export function foldUpdates(updates: Iterable<ChatResponseUpdate>): ChatResponse {
  const fold = new ResponseFold()
  for (const update of updates) fold.add(update)
  return fold.response()
}

/**
 * A response in the form that its own updates fold to: adjacent text joined, nothing empty, `text`
 * and `functionCalls` as the messages have them. The same object if it is in that form.
 */
export function normalizeResponse(response: ChatResponse): ChatResponse {
  if (isPlainlyNormal(response)) return response
  const fold = new ResponseFold()
  for (const message of tellCallsApart(response.messages)) {
    const update: OwnUpdate = { ...message, messageId: message.id }
    fold.add(update)
  }
  const folded = fold.messages()
  const isUnchanged = hasSame(
    folded,
    response.messages,
    (now, was) => now.id === was.id && hasSame(now.contents, was.contents, isSameContent),
  )
  const messages = isUnchanged ? response.messages : folded
  const fields = contentFields(messages)
  if (
    isUnchanged &&
    fields.text === response.text &&
    hasSame(fields.functionCalls, response.functionCalls, Object.is)
  ) {
    return response
  }
  const usage = addUsage(response.usage, fold.response().usage)
  return { ...response, messages, ...fields, usage }
}

/** A quick look that knows the usual answers: some text, some calls. What it does not know is folded. */
function isPlainlyNormal({ messages, text, functionCalls }: ChatResponse): boolean {
  let joined = ''
  let calls = 0
  for (const [at, { id, role, contents }] of messages.entries()) {
    if (!id || role !== 'assistant' || contents.length === 0) return false
    if (messages.findIndex((message) => message.id === id) !== at) return false
    let previous: Content['type'] | undefined
    for (const content of contents) {
      const { type } = content
      if (type === 'text') {
        if (content.text === '' || previous === 'text') return false
        joined += content.text
      } else if (type === 'function-call') {
        const { callId, index } = content
        if (!callId || index !== undefined || functionCalls[calls] !== content) return false
        if (functionCalls.findIndex((call) => call.callId === callId) !== calls++) return false
      } else return false
      previous = type
    }
  }
  return joined === text && calls === functionCalls.length
}

function isResult({ type }: Content): boolean {
  return type === 'function-result'
}

function isSame(told: unknown, known: unknown): boolean {
  return told === undefined || told === known
}

/** A call that was counted while it was folded is a copy of what it was. */
function isSameContent(now: Content, was: Content): boolean {
  if (now === was) return true
  if (now.type !== 'function-call' || was.type !== 'function-call') return false
  return was.index === undefined && now.callId === was.callId && now.arguments === was.arguments
}

function hasSame<T>(
  left: readonly T[],
  right: readonly T[],
  isEqual: (a: T, b: T) => boolean,
): boolean {
  return left.length === right.length && left.every((entry, at) => isEqual(entry, right[at]!))
}

function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const known: { [K in keyof T]?: NonNullable<T[K]> } = {}
  for (const key in fields) if (fields[key] != null) known[key] = fields[key]
  return known
}
