import type { ChatEvent, ChatPart, ChatUpdate } from './answer-fold.ts'
import { answerFold } from './answer-fold.ts'
import { readEvents } from './read-events.ts'

/** A message of a chat. */
export interface ChatMessage {
  /** Author of the message. */
  readonly role: 'user' | 'assistant' | 'tool'
  /** Its parts, in order. */
  readonly contents: ChatPart[]
  /** True for an answer that was stopped or failed. */
  readonly partial?: boolean
}

/** An open request of the chat. */
export interface ChatRequest {
  /** Key for the answer. */
  readonly id: string
  /** Kind of request. */
  readonly kind: 'approval' | 'function-call' | 'interrupt'
  /** Id of the tool call. */
  readonly callId?: string
  /** Name of the tool. */
  readonly name?: string
  /** Arguments of the call, JSON text. */
  readonly arguments?: string
  /** True if this user may do more than decline. */
  readonly mayAnswer: boolean
}

/** State of a chat, for a page to show. */
export interface ChatState {
  /** Messages, oldest first. The last one grows while `status` is `running`. */
  messages: ChatMessage[]
  /** Open requests of the chat. */
  pending: readonly ChatRequest[]
  /** Messages for the run that is active. It has not taken them in yet. */
  waiting: readonly ChatMessage[]
  /**
   * `ready` before the first run, `running`, or the end of the last run: its status, `stopped`, or
   * `failed`.
   */
  status: string
  /** Code of a failure. */
  code?: string | undefined
  /** Milliseconds after which to try again, if the server named them. */
  retryAfterMs?: number | undefined
}

/** Options of `chatReader`. */
export interface ChatReaderOptions {
  /** Address of the server's `sseHandler`. */
  readonly url: string
  /** Id of the chat. */
  readonly chat: string
  /** Called after each change of `state`. @default nothing */
  readonly onChange?: ((state: ChatState) => void) | undefined
  /** Called with each public event of a run. @default nothing */
  readonly onEvent?: ((event: ChatEvent) => void) | undefined
  /** Headers of each request. @default {} */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Sends the requests. @default the page's `fetch` */
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Attempts to reconnect to a run, after 1, 2, 4 … seconds. @default 5 */
  readonly reconnects?: number | undefined
}

/** Reads and continues one chat. */
export interface ChatReader {
  /** Current state of the chat. */
  readonly state: ChatState
  /** Loads the chat, and follows its run if one is active. */
  load(): Promise<void>
  /**
   * Follows the chat until the signal ends it: answers of other people, runs that begin elsewhere. While this page
   * reads a run, it waits.
   */
  watch(signal: AbortSignal): Promise<void>
  /**
   * Sends a text, or parts as in `userInput`; resolves when the run has ended. Resolves to false if
   * the server rejected it; `messages` then does not contain it. While a run is active, and if the service has
   * `onBusy`, it joins that run, and resolves when it has.
   */
  send(input: string | readonly unknown[]): Promise<boolean>
  /** Answers requests of `state.pending`, by id: true, false, `{ approved, arguments, reason }`, or a result. */
  answer(answers: Readonly<Record<string, unknown>>): Promise<boolean>
  /** Requests another answer to the user's last message. */
  again(): Promise<boolean>
  /** Stops the run. Its output so far stays. */
  stop(): Promise<void>
}

/** Returns the message of this page that has joined the run with this event. */
function joinedBy(
  event: ChatEvent | undefined,
  sent: ReadonlyMap<string, ChatMessage>,
): ChatMessage | undefined {
  const { id, type } = Object(event?.data) as { readonly id?: string; readonly type?: string }
  const isJoin = event?.type === 'steering' && type === 'delivered'
  return isJoin ? sent.get(id!) : undefined
}

function textOf(message: ChatMessage | undefined): string | undefined {
  return message?.contents.map(({ text }) => text).join('')
}

interface Refusal {
  readonly error?: { readonly code: string }
}

interface Loaded extends Pick<ChatState, 'messages' | 'pending'> {
  readonly running: boolean
  readonly version?: string
}

/**
 * Reads a chat of `sseHandler` in a browser: folds updates and restarts, sends answers, and
 * reconnects to a run.
 *
 * @example
 * ```ts
 * import { chatReader } from '@lamella/serve/client'
 *
 * const chat = chatReader({ url: 'https://shop.example/chat', chat: 'c1' })
 * console.log(chat.state.status) // ready
 * ```
 */
export function chatReader(options: ChatReaderOptions): ChatReader {
  const { url, chat, onChange, onEvent, headers = {}, reconnects = 5 } = options
  const request = options.fetch ?? fetch.bind(globalThis)
  const here = `${url}?chat=${encodeURIComponent(chat)}`
  const state: ChatState = { messages: [], pending: [], waiting: [], status: 'ready' }
  /** Messages of this page for runs, by id. */
  const sent = new Map<string, ChatMessage>()
  const show = (changes?: Partial<ChatState>): void => {
    Object.assign(state, changes)
    onChange?.(state)
  }

  /** Reads a stream into the last message; false if it broke off. A message that joins the run begins a new one. */
  const read = async (response: Response, parts: ChatPart[]): Promise<boolean> => {
    let fold = answerFold(parts)
    try {
      for await (const [name, data] of readEvents(response.body!)) {
        if (name === 'done') {
          const { status, pending } = data as Partial<ChatState>
          const isEnd = typeof status === 'string'
          show({
            ...(data as object),
            status: isEnd ? status : 'failed',
            pending: Array.isArray(pending) ? pending : [],
          })
          return true
        }
        if (name === 'error') {
          show({ ...(data as object), status: 'failed' })
          return true
        }
        const update = data as ChatUpdate
        fold(update)
        const joined = joinedBy(update.event, sent)
        if (joined !== undefined) {
          const contents: ChatPart[] = []
          state.messages.push(joined, { role: 'assistant', contents })
          fold = answerFold(contents)
          show({ waiting: state.waiting.filter((entry) => entry !== joined) })
        }
        if (update.event) onEvent?.(update.event)
        show()
      }
    } catch {
      // The connection broke.
    }
    return false
  }

  /** Runs that this page reads. */
  let reads = 0
  const follow = async (response: Response, parts: ChatPart[]): Promise<void> => {
    reads++
    try {
      await followOn(response, parts)
    } finally {
      reads--
    }
  }

  const followOn = async (response: Response, parts: ChatPart[]): Promise<void> => {
    const start = parts.length
    const place = state.messages.length
    let isOver = await read(response, parts)
    for (let tries = 0; !isOver && tries < reconnects; tries++) {
      // oxlint-disable-next-line no-await-in-loop
      await new Promise((resolve) => setTimeout(resolve, 1000 * 2 ** tries))
      // oxlint-disable-next-line no-await-in-loop
      const again = await request(`${here}&stream`, { headers }).catch(() => undefined)
      if (again?.status === 200) {
        parts.length = start
        state.messages.length = place
        // oxlint-disable-next-line no-await-in-loop
        isOver = await read(again, parts)
      } else if (again?.status === 204) {
        // oxlint-disable-next-line no-await-in-loop
        await reader.load()
        if (state.status !== 'running') isOver = true
      }
    }
    if (!isOver) show({ status: 'failed', code: 'connection_lost' })
  }

  const ask = (demand: object): Promise<Response | undefined> =>
    request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ chat, ...demand }),
    }).catch(() => undefined)

  /** Sends a message to the active run. The stream of that run shows it. */
  const join = async (contents: ChatPart[]): Promise<boolean> => {
    const id = crypto.randomUUID()
    const message: ChatMessage = { role: 'user', contents }
    sent.set(id, message)
    show({ waiting: [...state.waiting, message] })
    const response = await ask({ input: contents, id })
    let status: unknown
    if (response !== undefined && !response.ok) {
      const failure = (await response.json().catch(() => undefined)) as Refusal | undefined
      show({ code: failure?.error?.code })
    }
    try {
      for await (const [name, data] of response?.ok ? readEvents(response.body!) : []) {
        if (name === 'done') ({ status } = data as { status?: unknown })
      }
    } catch {
      // The connection broke.
    }
    if (status !== 'delivered')
      show({ waiting: state.waiting.filter((entry) => entry !== message) })
    return status === 'delivered'
  }

  const post = async (demand: object, ...asked: ChatMessage[]): Promise<boolean> => {
    const before = [...state.messages]
    const contents: ChatPart[] = []
    state.messages.push(...asked, { role: 'assistant', contents })
    show({ status: 'running', code: undefined, retryAfterMs: undefined })
    // From here on, what `watch` finds is what this page has asked for.
    reads++
    const response = await ask(demand)
    reads--
    if (response?.ok) {
      await follow(response, contents)
      return true
    }
    const failure = (await response?.json().catch(() => undefined)) as Refusal | undefined
    const seconds = Number(response?.headers.get('retry-after') ?? NaN)
    show({
      messages: before,
      status: 'failed',
      code: failure?.error?.code ?? 'connection_lost',
      retryAfterMs: seconds >= 0 ? seconds * 1000 : undefined,
    })
    return false
  }

  const take = async ({ running, messages, pending }: Loaded): Promise<void> => {
    show({
      messages,
      pending,
      status: running ? 'running' : pending.length > 0 ? 'paused' : 'ready',
    })
    if (!running) return
    const live = await request(`${here}&stream`, { headers })
    if (live.status !== 200) return
    const contents: ChatPart[] = []
    state.messages.push({ role: 'assistant', contents })
    await follow(live, contents)
  }

  const reader: ChatReader = {
    state,
    async load() {
      const response = await request(here, { headers })
      await take((await response.json()) as Loaded)
    },
    async watch(signal) {
      let since = ''
      while (!signal.aborted) {
        // oxlint-disable-next-line no-await-in-loop
        const response = await request(`${here}&since=${encodeURIComponent(since)}`, {
          headers,
          signal,
        }).catch(() => undefined)
        const isNews = response?.status === 200
        // The connection may break, or the signal end it, while the chat is read.
        // oxlint-disable-next-line no-await-in-loop
        const body: unknown = isNews ? await response.json().catch(() => undefined) : undefined
        if (body !== undefined) {
          const loaded = body as Loaded
          since = loaded.version!
          // oxlint-disable-next-line no-await-in-loop
          if (reads === 0 && !signal.aborted) await take(loaded)
        } else if (response?.status !== 204 && !signal.aborted) {
          // oxlint-disable-next-line no-await-in-loop
          await new Promise((resolve) => setTimeout(resolve, 1000))
        }
      }
    },
    send(input) {
      const parts = typeof input === 'string' ? [{ type: 'text', text: input }] : input
      const contents = [...parts] as ChatPart[]
      if (state.status === 'running') return join(contents)
      return post({ input }, { role: 'user', contents })
    },
    answer: (answers) => post({ answers }),
    async again() {
      const users = state.messages.filter(({ role }) => role === 'user')
      const last = users.at(-1)
      if (last === undefined) return false
      // The server has not kept messages that were blocked.
      const loaded = (await (await request(here, { headers })).json()) as Loaded
      const kept = loaded.messages.filter(({ role }) => role === 'user')
      const isKept = kept.length === users.length || textOf(kept.at(-1)) === textOf(last)
      state.messages = state.messages.slice(0, state.messages.indexOf(last) + 1)
      return post(isKept ? { again: kept.length } : { input: last.contents })
    },
    async stop() {
      await request(`${here}&run`, { method: 'DELETE', headers })
    },
  }
  return reader
}
