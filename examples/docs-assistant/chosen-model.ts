import type { ChatClient } from '@lamella/core'
import { OpenAIChatCompletionsClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'

/** The model that the environment names, or the stand-in. */
export interface ChosenModel extends AsyncDisposable {
  readonly client: ChatClient
  readonly name: string
  /** Where it is reached, without credentials. */
  readonly address: string
  readonly hasKey: boolean
  /** What a reader should know of it, a line each. */
  readonly notes: readonly string[]
}

const defaultModel = 'gpt-5-mini'

/** @throws Error for an address or a key that cannot be one */
export async function chooseModel(
  env: NodeJS.ProcessEnv,
  isWatched: boolean,
): Promise<ChosenModel> {
  const apiKey = env['OPENAI_API_KEY']?.trim() || undefined
  const baseURL = env['OPENAI_BASE_URL']?.trim() || undefined
  if (apiKey === undefined && baseURL === undefined) return standIn(isWatched)

  if (apiKey !== undefined && !/^[\x21-\x7e]+$/u.test(apiKey)) {
    throw new Error('OPENAI_API_KEY holds characters that no key has')
  }
  const url = URL.parse(baseURL ?? 'https://api.openai.com/v1')
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    throw new Error('OPENAI_BASE_URL is no address such as http://localhost:11434/v1')
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('OPENAI_BASE_URL must not hold credentials: set OPENAI_API_KEY')
  }
  const model = env['OPENAI_MODEL']?.trim() || defaultModel
  const address = url.origin + url.pathname
  return {
    client: new OpenAIChatCompletionsClient({ apiKey, baseURL, model }),
    name: model,
    address,
    hasKey: apiKey !== undefined,
    notes: [`Model: ${model} at ${address}`],
    [Symbol.asyncDispose]: async () => {},
  }
}

/** A server on this machine that speaks the same protocol, so that the agent is the same. */
async function standIn(isWatched: boolean): Promise<ChosenModel> {
  const server = await startModelServer({
    failures: [{ status: 503, body: { error: { message: 'staged' } } }],
    chunkDelayMs: isWatched ? 30 : 0,
  })
  const model = 'lamella-stand-in'
  return {
    client: new OpenAIChatCompletionsClient({
      apiKey: 'none',
      baseURL: server.baseURL,
      model,
      provider: 'stand-in',
    }),
    name: model,
    address: server.baseURL,
    hasKey: false,
    notes: [
      'Model: a deterministic stand-in, no language model. For a real one, set OPENAI_API_KEY or OPENAI_BASE_URL.',
      'It matches words and quotes the documents. Its first call is made to fail, so that the retry is seen.',
    ],
    [Symbol.asyncDispose]: () => server.close(),
  }
}
