import type {
  Agent,
  AgentResponse,
  Checkpoint,
  KeyValueStore,
  Message,
  PendingRequest,
  RunOptions,
  Schema,
  Session,
  ToolDefinition,
} from '@lamella/core'
import { isObject, validate } from '@lamella/core/authoring'
import type { OpenRequest, SessionListOptions, SessionPage, Sessions } from '@lamella/store'
import { memoryStore, userInput } from '@lamella/core'
import type { Delivery, Inbox } from '@lamella/steering'
import { createInbox } from '@lamella/steering'
import { sessions, storePrefix, whenStored } from '@lamella/store'
import type { ClientContent, ClientUpdate } from '../updates/client-updates.ts'
import { clientContents, clientOutcome, clientUpdate } from '../updates/client-updates.ts'
import { logLine } from '../http/log-line.ts'
import { HttpFailure } from '../http/http-failure.ts'
import type {
  AnswerQuestion,
  ChatServiceOptions,
  FailureFacts,
  ServedRunOptions,
} from './chat-options.ts'
import { checkServiceOptions } from './chat-options.ts'
import type { ChatRunInit } from './chat-run.ts'
import { ChatRun } from './chat-run.ts'
import { clientAnswer } from './client-answer.ts'
import type { Demand } from './demand.ts'
import { chatId, messageId } from './demand.ts'
import type { ExpiredRequest } from './managed-requests.ts'
import { ManagedRequests } from './managed-requests.ts'
import type { Answers } from './paused-runs.ts'
import { PausedRuns } from './paused-runs.ts'
import type { Principal } from './principal.ts'
import { chatOf, ownerOf, sessionIdOf } from './principal.ts'
import { rewind } from './rewind.ts'
import { RunLeases, stopReason } from './run-leases.ts'
import type { Shown, ShownRequest } from './shown.ts'

/** A message of a chat, as its reader receives it. */
export interface ShownMessage extends ClientUpdate {
  /** Id of the message. */
  readonly id: string
  /** True for a message that a stopped or failed run left unfinished. */
  readonly partial?: true
}

/** A chat, as its reader receives it. */
export interface ChatHistory {
  /** Messages of the chat, oldest first. */
  readonly messages: readonly ShownMessage[]
  /** Open requests of the chat. */
  readonly pending: readonly ShownRequest[]
  /** True while a run of the chat has not ended. */
  readonly running: boolean
}

/** A chat of a principal. */
export interface ChatAddress {
  /** Owner of the chat. */
  readonly principal: Principal | string
  /** Id of the chat. */
  readonly chat: string
}

/**
 * The chats of an agent, with their permissions. The server owns the history, a client adds to it.
 * Handlers of all protocols share one service.
 */
export class ChatService {
  /** @internal */
  readonly options: ChatServiceOptions
  readonly #agent: Agent
  readonly #store: KeyValueStore
  readonly #chats: Sessions
  readonly #leases: RunLeases
  readonly #include: ReturnType<typeof clientContents>
  readonly #managed: ManagedRequests
  readonly #running = new Map<string, Running>()

  constructor(agent: Agent, options: ChatServiceOptions) {
    if (typeof agent?.resume !== 'function') {
      throw new TypeError(
        'chatService: the first argument must be an agent, with `run` and `resume`',
      )
    }
    checkServiceOptions(options)
    this.options = options
    this.#agent = agent
    this.#store = options.store ?? agent.store ?? memoryStore({ maxEntries: 10_000 })
    this.#chats = sessions(this.#store, { name: 'serve-chats', ttlMs: options.chatTtlMs })
    this.#leases = new RunLeases(this.#store, options.leaseMs ?? 30_000)
    this.#include = clientContents('chatService', options.include)
    this.#managed = new ManagedRequests(
      this.#store,
      options,
      (expired) => void this.#refuse(expired),
    )
  }

  /** Name of the agent. */
  get agentName(): string | undefined {
    return this.#agent.name
  }

  /** Returns the chat as its reader receives it. A missing chat is empty. */
  async history({ principal, chat }: ChatAddress): Promise<ChatHistory> {
    const owner = toPrincipal(principal)
    const session = await this.#chats.load(sessionIdOf(owner, chatId(chat)), ownerOf(owner))
    const saved = session?.messages ?? []
    const input = this.#running.get(sessionIdOf(owner, chat))?.input ?? []
    const added = input.filter(({ id }) => saved.every((entry) => entry.id !== id))
    return {
      messages: this.#shownMessages([...saved, ...added]),
      pending: await this.#pendingOf(owner, chat),
      running: await this.#leases.isRunning(owner, chat),
    }
  }

  /** Lists the chats of a principal, latest first. Needs a store with `lists`. */
  async list(
    principal: Principal | string,
    { limit, after }: Pick<SessionListOptions, 'limit' | 'after'> = {},
  ): Promise<SessionPage> {
    const owner = toPrincipal(principal)
    const page = await this.#chats.list({
      ...ownerOf(owner),
      limit,
      after: after && { ...after, item: sessionIdOf(owner, after.item) },
    })
    return {
      sessions: page.sessions.map(({ id, savedAt }) => ({ id: chatOf(id), savedAt })),
      ...(page.next && { next: { ...page.next, item: chatOf(page.next.item) } }),
    }
  }

  /**
   * Stops the run of a chat, in any process; resolves to false if there is none. Its output so far
   * stays.
   */
  async stop({ principal, chat }: ChatAddress): Promise<boolean> {
    const owner = toPrincipal(principal)
    const here = this.#running.get(sessionIdOf(owner, chat))
    here?.stop.abort(stopReason())
    return here !== undefined || this.#leases.stop(owner, chat)
  }

  /** Deletes a chat with its open requests, and stops its run, which saves nothing any more. */
  async delete({ principal, chat }: ChatAddress): Promise<void> {
    const owner = toPrincipal(principal)
    await this.#leases.stop(owner, chat, { isDeleted: true })
    this.#running.get(sessionIdOf(owner, chat))?.stop.abort(stopReason())
    await this.#remove(owner, chat)
  }

  async #remove(owner: Principal, chat: string): Promise<void> {
    const paused = this.#pausedOf(owner, chat)
    const ids = await paused.ids()
    await this.#chats.delete(sessionIdOf(owner, chat), ownerOf(owner))
    await paused.clear()
    await this.#managed.withdraw(ids, owner.tenant)
    this.#tell(owner, chat)
  }

  /** Lists the open requests that this principal may manage, of all chats of its tenant, the latest first. */
  async requests(principal: Principal | string): Promise<readonly OpenRequest[]> {
    return this.#managed.list(toPrincipal(principal))
  }

  /** Reserves a request for a principal for a minute. Resolves to false if another has it. */
  async claimRequest(principal: Principal | string, id: string): Promise<boolean> {
    return this.#managed.claim(toPrincipal(principal), id)
  }

  /** @internal Begins the run that continues with a manager's answer. */
  async beginAnswer(manager: Principal, id: string, answer: unknown): Promise<ChatRun> {
    const { principal, tenant, place } = await this.#managed.of(manager, id)
    const demand = { chat: place!, answers: new Map([[id, answer]]) }
    return this.begin({ id: principal!, tenant }, demand, {}, manager.id)
  }

  /**
   * @internal Resolves to the chat as soon as it is not as `since` says any more, to `undefined` if the signal ends
   * the wait.
   */
  async changed(
    { principal, chat }: ChatAddress,
    since: string,
    signal: AbortSignal,
  ): Promise<(ChatHistory & { readonly version: string }) | undefined> {
    const owner = toPrincipal(principal)
    const read = async (): Promise<(ChatHistory & { readonly version: string }) | undefined> => {
      const history = await this.history({ principal: owner, chat })
      const version = versionOf(history)
      return version === since ? undefined : { ...history, version }
    }
    return untilAborted(
      signal,
      whenStored(this.#store, { channel: channelOf(owner, chat), read, signal }),
    )
  }

  /** @internal The same for what a principal may manage. */
  async requestsChanged(
    principal: Principal,
    since: string,
    signal: AbortSignal,
  ): Promise<{ readonly requests: readonly OpenRequest[]; readonly version: string } | undefined> {
    const read = async () => {
      const requests = await this.requests(principal)
      const version = requests.map(({ id, claim }) => `${id} ${claim?.by ?? ''}`).join()
      return version === since ? undefined : { requests, version }
    }
    const channel = storePrefix({ name: 'serve-requests', tenant: principal.tenant })
    return untilAborted(signal, whenStored(this.#store, { channel, read, signal }))
  }

  /** Continues a run with the refusal of a request that has expired. */
  async #refuse({ request, answer }: ExpiredRequest): Promise<void> {
    const { id, principal, tenant, place } = request
    const address = { principal: { id: principal!, tenant }, chat: place! }
    try {
      await this.answer(address, { [id]: answer })
    } catch (error) {
      this.report(error, address)
    }
  }

  /** Tells those who wait for a change of the chat. */
  #tell(owner: Principal, chat: string): void {
    void this.#store.signals?.send(channelOf(owner, chat), '').catch(() => {})
  }

  /**
   * Answers requests of a chat with the authority of your code: `mayApprove` is not called. Use it
   * for approvals by other people than the user, such as on a page for managers.
   * @throws LamellaError `approval_invalid` if an answer has no open request, `run_active`,
   * `run_stopped`; the error of a run that failed
   */
  async answer(
    { principal, chat }: ChatAddress,
    answers: Readonly<Record<string, unknown>>,
    options: ServedRunOptions = {},
  ): Promise<AgentResponse> {
    const owner = toPrincipal(principal)
    const demand = { chat, answers: new Map(Object.entries(answers)) }
    const run = await this.begin(owner, demand, options, 'the application')
    let last: Shown | undefined
    // oxlint-disable-next-line no-await-in-loop
    for (let step = await run.next(); step !== undefined; step = await run.next()) last = step
    if (run.final !== undefined) return run.final
    if (last?.type === 'failed') throw last.failure.cause ?? last.failure
    throw stopReason()
  }

  /** @internal Starts a run of a chat; it begins with the first piece that is read. */
  async begin(
    owner: Principal,
    demand: Demand,
    options: ServedRunOptions,
    by?: string,
  ): Promise<ChatRun> {
    const { chat } = demand
    this.#checkRuns(owner)
    const lease = await this.#leases.take(owner, chat)
    this.#tell(owner, chat)
    const key = sessionIdOf(owner, chat)
    const stop = new AbortController()
    try {
      const session = await this.#chats.open(key, ownerOf(owner))
      const paused = this.#pausedOf(owner, chat)
      const inbox = this.#inboxOf(owner, chat)
      const middleware = [options.middleware ?? [], inbox ?? []]
      const shared = { ...options, middleware, session, ...ownerOf(owner), keep: 'all' as const }
      const { open, input, claimed } = await this.#opener(owner, demand, paused, shared, by)
      lease.signal.addEventListener('abort', () => stop.abort(lease.signal.reason), { once: true })
      if (lease.signal.aborted) stop.abort(lease.signal.reason)
      this.#running.set(key, { stop, input, owner: storePrefix({ name: '', ...ownerOf(owner) }) })
      const isNew = session.messages.length === 0
      // A run that left nothing, such as a blocked one, has no chat that could be missed.
      let left: 'nothing' | 'messages' | 'deleted' = 'nothing'
      return new ChatRun({
        open,
        include: this.#include,
        stop: stop.signal,
        save: async (final, pending) => {
          if (await this.#leases.isDeleted(owner, chat)) {
            left = 'deleted'
            return
          }
          const checkpoint = final?.checkpoint ?? claimed
          try {
            if (checkpoint !== undefined && pending.length > 0) {
              await paused.add(checkpoint)
              await this.#managed.add(owner, chat, pending)
            }
            if (session.messages.length > 0) {
              await this.#chats.save(session)
              left = 'messages'
              if (isNew) await this.#trim(owner)
            }
          } finally {
            // It may have been deleted meanwhile: the mark comes before the deletion, and this after the save.
            if (await this.#leases.isDeleted(owner, chat)) await this.#remove(owner, chat)
          }
        },
        isDeleted: async () => {
          if (left === 'deleted' || (await this.#leases.isDeleted(owner, chat))) return true
          return left === 'messages' && (await this.#chats.load(key, ownerOf(owner))) === undefined
        },
        pending: () => this.#pendingOf(owner, chat),
        release: async () => {
          this.#running.delete(key)
          await lease.release()
          this.#tell(owner, chat)
        },
        onError: (error) => this.report(error, { chat, principal: owner }),
      })
    } catch (error) {
      await lease.release()
      throw error
    }
  }

  /**
   * @internal Adds input to the run of a chat, as `onBusy` says. Undefined if that rejects it, and for anything
   * else than new input.
   */
  join(owner: Principal, demand: Demand, signal: AbortSignal): Promise<Delivery> | undefined {
    const { chat, input, answers, again, id } = demand
    const inbox = this.#inboxOf(owner, chat)
    if (inbox === undefined || answers !== undefined || again !== undefined) return undefined
    const message = userInput(input, this.options.input)
    const facts = { id: id === undefined ? message.id : messageId(id), signal }
    return this.options.onBusy === 'queue'
      ? inbox.queue(message, facts)
      : inbox.steer(message, facts)
  }

  /** @throws HttpFailure 429 if the principal has as many runs as one may have */
  #checkRuns(owner: Principal): void {
    const name = storePrefix({ name: '', ...ownerOf(owner) })
    const mine = [...this.#running.values()].filter((run) => run.owner === name)
    if (mine.length < (this.options.maxRuns ?? 100)) return
    throw new HttpFailure('too many runs at a time', {
      status: 429,
      code: 'too_many_runs',
      retryAfterMs: 1000,
    })
  }

  /** Deletes the oldest chats of a principal that has too many. */
  async #trim(owner: Principal): Promise<void> {
    if (this.#store.lists === undefined) return
    const { maxChats = 500 } = this.options
    const { sessions: all } = await this.#chats.list({ ...ownerOf(owner), limit: maxChats + 10 })
    const old = all.slice(maxChats).map(({ id }) => chatOf(id))
    await Promise.all(old.map((chat) => this.delete({ principal: owner, chat })))
  }

  /** @internal Passes a masked error to `onError`. */
  report(error: unknown, facts: FailureFacts): void {
    const { onError } = this.options
    if (onError !== undefined) onError(error, facts)
    else console.error(logLine(error))
  }

  /** Answers are claimed here, before any call runs. */
  async #opener(
    owner: Principal,
    { chat, input, answers, again }: Demand,
    paused: PausedRuns,
    shared: RunOptions & { readonly session: Session },
    by: string | undefined,
  ): Promise<Opened> {
    if (answers !== undefined) {
      const { checkpoint, asked } = await paused.find(answers)
      await this.#managed.checkClaims(answers.keys(), owner.tenant, by ?? owner.id)
      const given =
        by !== undefined
          ? Object.fromEntries(answers)
          : await this.#permitted({ principal: owner, chat }, asked, answers, shared.tools)
      await paused.claim(checkpoint)
      await this.#managed.answered(given, owner.tenant, by ?? owner.id)
      const resume: ChatRunInit['open'] = (signal) =>
        this.#agent.resume(checkpoint, given, { ...shared, signal, stream: true })
      return { open: resume, input: [], claimed: checkpoint }
    }
    if (again === undefined) await this.#checkOpen(paused)
    const back = again === undefined ? undefined : rewind(shared.session, again)
    if (back !== undefined) {
      const before = await paused.ids()
      await paused.drop(back.removed)
      const kept = new Set(await paused.ids())
      await this.#managed.withdraw(
        before.filter((id) => !kept.has(id)),
        owner.tenant,
      )
    }
    const isNew = back === undefined || input !== undefined
    const words = isNew ? [userInput(input, this.options.input)] : back.kept
    const run: ChatRunInit['open'] = (signal) =>
      this.#agent.run(words, { ...shared, signal, stream: true })
    return { open: run, input: words }
  }

  /** @throws HttpFailure 409 if messages join runs, and that of the chat waits for an answer */
  async #checkOpen(paused: PausedRuns): Promise<void> {
    const { onBusy = 'reject' } = this.options
    if (onBusy === 'reject' || (await paused.ids()).length === 0) return
    throw new HttpFailure('the run of this chat waits for an answer', {
      status: 409,
      code: 'run_paused',
    })
  }

  async #permitted(
    { principal, chat }: { readonly principal: Principal; readonly chat: string },
    asked: readonly PendingRequest[],
    answers: Answers,
    tools: readonly ToolDefinition[] = [],
  ): Promise<Readonly<Record<string, unknown>>> {
    const given: [string, unknown][] = []
    for (const request of asked) {
      const answer = clientAnswer(request, answers.get(request.id))
      const { question, tool } = answer
      const isAllowed =
        tool !== undefined
          ? this.#takesResultsOf(tool)
          : question === undefined ||
            // oxlint-disable-next-line no-await-in-loop
            (await this.#mayApprove({ principal, chat, ...question }, tools))
      if (!isAllowed) {
        throw new HttpFailure('this principal may not give this answer', {
          status: 403,
          code: 'answer_forbidden',
        })
      }
      given.push([request.id, answer.value])
    }
    return Object.fromEntries(given)
  }

  #takesResultsOf(tool: string): boolean {
    return this.options.clientTools?.includes(tool) === true
  }

  async #pendingOf(principal: Principal, chat: string): Promise<readonly ShownRequest[]> {
    const pending = await this.#pausedOf(principal, chat).pending()
    const shown = clientOutcome({ status: 'paused', pending }).pending ?? []
    return Promise.all(
      shown.map(async (request, at) => ({
        ...request,
        mayAnswer: await this.#mayAnswer(principal, chat, pending[at]!),
      })),
    )
  }

  async #mayAnswer(principal: Principal, chat: string, request: PendingRequest): Promise<boolean> {
    const { question, tool } = clientAnswer(request, true)
    if (tool !== undefined) return this.#takesResultsOf(tool)
    return this.#mayApprove({ principal, chat, ...question! })
  }

  /** Asks the application about the arguments as the tool gets them: with defaults, and transformed. */
  async #mayApprove(
    question: AnswerQuestion,
    tools: readonly ToolDefinition[] = [],
  ): Promise<boolean> {
    const { mayApprove } = this.options
    if (mayApprove === undefined) return false
    const found = [...tools, ...this.#agent.tools].find(
      (tool) => tool.type === 'function' && tool.name === question.tool,
    )
    const { parameters } = (found ?? {}) as { readonly parameters?: Schema }
    if (parameters === undefined || question.arguments === undefined) {
      return ((await mayApprove(question)) as unknown) === true
    }
    const result = await validate(parameters, question.arguments)
    if (result.issues !== undefined) return false
    const { value } = result
    const answer: unknown = await mayApprove({
      ...question,
      arguments: isObject(value) ? value : {},
    })
    return answer === true
  }

  #inboxOf(owner: Principal, chat: string): Inbox | undefined {
    const { onBusy = 'reject', maxWaiting, input } = this.options
    if (onBusy === 'reject') return undefined
    return createInbox({ store: this.#store, id: chat, ...ownerOf(owner), maxWaiting, input })
  }

  #pausedOf(owner: Principal, chat: string): PausedRuns {
    return new PausedRuns(this.#store, owner, chat, this.options.chatTtlMs)
  }

  #shownMessages(messages: readonly Message[]): readonly ShownMessage[] {
    return messages.flatMap((entry): ShownMessage[] => {
      const { id, role, metadata } = entry
      const isUser = role === 'user'
      if (role === 'system') return []
      const shown = clientUpdate(entry, isUser ? userContents : this.#include)
      if (shown === undefined || shown.contents.length === 0) return []
      const { contents } = shown
      return [{ id, role, contents, ...(metadata?.['partial'] === true && { partial: true }) }]
    })
  }
}

/**
 * Creates the service for an agent's chats, which the handlers of all protocols use.
 * @throws TypeError or RangeError that names the option and the value
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { chatService } from '@lamella/serve'
 * import { sseHandler } from '@lamella/serve/sse'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Hello, Ada.']) })
 * const handler = sseHandler(chatService(agent, { principal: () => 'ada' }))
 * const body = JSON.stringify({ chat: 'c1', input: 'Hi, I am Ada.' })
 * const headers = { 'content-type': 'application/json' }
 * const response = await handler(new Request('https://shop.example/chat', { method: 'POST', headers, body }))
 * console.log(response.status) // 200
 * await response.text()
 * ```
 */
export function chatService(agent: Agent, options: ChatServiceOptions): ChatService {
  return new ChatService(agent, options)
}

/** A run that can begin. */
interface Opened {
  readonly open: ChatRunInit['open']
  readonly input: readonly Message[]
  /** Checkpoint that it continues. */
  readonly claimed?: Checkpoint
}

/** A run of this process. */
interface Running {
  readonly stop: AbortController
  /** Prefix of what is kept for its principal. */
  readonly owner: string
  /** Input that the chat has not saved yet. */
  readonly input: readonly Message[]
}

/** Changes with each message, request, run and end of a run. */
function versionOf({ messages, pending, running }: ChatHistory): string {
  const ids = pending.map(({ id }) => id)
  return [running, messages.length, messages.at(-1)?.id, ...ids].join()
}

/** Channel of the notes that a chat has changed. */
function channelOf(owner: Principal, chat: string): string {
  return `serve-chat:${sessionIdOf(owner, chat)}`
}

async function untilAborted<Value>(
  signal: AbortSignal,
  work: Promise<Value>,
): Promise<Value | undefined> {
  return work.catch((error: unknown) => {
    if (!signal.aborted) throw error
    return undefined
  })
}

const userContents: ReadonlySet<ClientContent> = new Set(['files'])

function toPrincipal(given: Principal | string): Principal {
  return typeof given === 'string' ? { id: given } : given
}
