import type { Content, Message } from '@lamella/core'
import { LamellaError, message } from '@lamella/core'
import { longestTimerMs } from '@lamella/core/authoring'
import type { Connection } from '../connection/connection.ts'
import { cleanText } from '../base/clean-text.ts'
import { listPages } from '../connection/list-pages.ts'
import type { McpClient } from '../connection/mcp-client.ts'
import { hasCapability, sendRequest } from '../connection/mcp-client.ts'
import { contentsOf, resourceContents } from './result-contents.ts'

/** A resource that a server lists. */
export interface McpResource {
  /** Address within the server, for `readResource`. */
  readonly uri: string
  /** Name that the server uses. */
  readonly name: string
  /** The server's words about it. */
  readonly description?: string | undefined
  /** Media type, if the server knows it. */
  readonly mimeType?: string | undefined
  /** Size in bytes, if the server knows it. */
  readonly size?: number | undefined
}

/** A prompt that a server lists. */
export interface McpPrompt {
  /** Name for `getPrompt`. */
  readonly name: string
  /** The server's words about it. */
  readonly description?: string | undefined
  /** Arguments of the prompt. */
  readonly arguments: readonly McpPromptArgument[]
}

/** An argument of a prompt. */
export interface McpPromptArgument {
  /** Key in the second argument of `getPrompt`. */
  readonly name: string
  /** The server's words about it. */
  readonly description?: string | undefined
  /** True if the prompt requires it. */
  readonly required: boolean
}

/** Settings that all reads of one server share. */
export interface ReadSetup {
  readonly server: string
  readonly connection: Connection
  readonly timeoutMs: number
  readonly maxResultBytes: number
}

type Fields = Readonly<Record<string, unknown>>

const maxEntries = 1000
const maxTextChars = 2000

/** Lists resources. A server without the capability has none. */
export async function listResources(
  setup: ReadSetup,
  signal: AbortSignal,
): Promise<readonly McpResource[]> {
  return (await list(setup, 'resources', signal)).map(
    ({ uri, name, description, mimeType, size }) => ({
      uri: String(uri),
      name: wordsOf(name) ?? String(uri),
      description: wordsOf(description),
      mimeType: wordsOf(mimeType),
      size: typeof size === 'number' ? size : undefined,
    }),
  )
}

/** Lists prompts. A server without the capability has none. */
export async function listPrompts(
  setup: ReadSetup,
  signal: AbortSignal,
): Promise<readonly McpPrompt[]> {
  return (await list(setup, 'prompts', signal)).map(({ name, description, arguments: wanted }) => ({
    name: String(name),
    description: wordsOf(description),
    arguments: fieldsIn(wanted).map((argument) => ({
      name: String(argument['name']),
      description: wordsOf(argument['description']),
      required: argument['required'] === true,
    })),
  }))
}

/** A resource as a message of the user. */
export async function readResource(
  setup: ReadSetup,
  uri: string,
  signal: AbortSignal,
): Promise<Message> {
  return send(setup, 'resources/read', { uri }, signal, ({ contents }) =>
    from(setup, 'user', resourceContents(contents, setup.maxResultBytes)),
  )
}

/** A prompt as the messages that the server made of it. */
export async function getPrompt(
  setup: ReadSetup,
  name: string,
  args: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly Message[]> {
  return send(setup, 'prompts/get', { name, arguments: args }, signal, ({ messages }) =>
    fieldsIn(messages).map(({ role, content }) =>
      from(setup, role === 'assistant' ? role : 'user', contentsOf(content, setup.maxResultBytes)),
    ),
  )
}

/** Marks a message with the server that wrote it. */
function from({ server }: ReadSetup, role: 'user' | 'assistant', contents: Content[]): Message {
  return { ...message(role, contents), metadata: { mcp: { server } } }
}

function list(
  setup: ReadSetup,
  what: 'resources' | 'prompts',
  signal: AbortSignal,
): Promise<readonly Fields[]> {
  return ask(setup, `${what}/list`, signal, async (client, limited) => {
    if (!hasCapability(client, what)) return []
    const { entries } = await listPages(client, what, maxEntries, { signal: limited })
    return fieldsIn(entries)
  })
}

function send<Result>(
  setup: ReadSetup,
  method: string,
  params: Fields,
  signal: AbortSignal,
  read: (result: Fields) => Result,
): Promise<Result> {
  return ask(setup, method, signal, async (client, limited) =>
    read(await sendRequest(client, method, params, { signal: limited })),
  )
}

/** @throws LamellaError `mcp_failed`, or the reason of an abort */
async function ask<Result>(
  { connection, server, timeoutMs }: ReadSetup,
  method: string,
  signal: AbortSignal,
  work: (client: McpClient, limited: AbortSignal) => Promise<Result>,
): Promise<Result> {
  let timeout: AbortSignal | undefined
  try {
    return await connection.use(signal, true, (client) => {
      timeout = AbortSignal.timeout(Math.min(Math.ceil(timeoutMs), longestTimerMs))
      return work(client, AbortSignal.any([signal, timeout]))
    })
  } catch (cause) {
    signal.throwIfAborted()
    if (LamellaError.is(cause)) throw cause
    const how = timeout?.aborted === true ? `did not answer within ${timeoutMs} ms` : 'failed'
    throw new LamellaError(`the MCP server "${server}": \`${method}\` ${how}`, {
      code: 'mcp_failed',
      cause,
    })
  }
}

function fieldsIn(value: unknown): readonly Fields[] {
  const all: unknown[] = Array.isArray(value) ? value : []
  return all.filter((entry): entry is Fields => typeof entry === 'object' && entry !== null)
}

function wordsOf(value: unknown): string | undefined {
  return typeof value === 'string' ? cleanText(value, maxTextChars) : undefined
}
