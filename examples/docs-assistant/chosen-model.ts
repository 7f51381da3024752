import { AnthropicChatClient } from '@lamella/anthropic'
import { AzureOpenAIChatClient } from '@lamella/azure-openai'
import type { ChatClient } from '@lamella/core'
import { GoogleChatClient } from '@lamella/google'
import { OpenAIChatCompletionsClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'
import { answer } from './stand-in/answer.ts'

/** Environment variables that configure a model. */
export interface ModelVariables {
  readonly key: string
  readonly model: string
  readonly address: string
}

/** Model that the environment names, or the stand-in. */
export interface ChosenModel extends AsyncDisposable {
  readonly client: ChatClient
  readonly name: string
  /** Address of the model, without credentials. */
  readonly address: string
  readonly hasKey: boolean
  readonly variables: ModelVariables
  /** Notes for the user, one line each. */
  readonly notes: readonly string[]
}

const openAIVariables: ModelVariables = {
  key: 'OPENAI_API_KEY',
  model: 'OPENAI_MODEL',
  address: 'OPENAI_BASE_URL',
}
const anthropicVariables: ModelVariables = {
  key: 'ANTHROPIC_API_KEY',
  model: 'ANTHROPIC_MODEL',
  address: 'ANTHROPIC_BASE_URL',
}
const googleVariables: ModelVariables = {
  key: 'GEMINI_API_KEY',
  model: 'GEMINI_MODEL',
  address: 'GOOGLE_GEMINI_BASE_URL',
}
const azureVariables: ModelVariables = {
  key: 'AZURE_OPENAI_API_KEY',
  model: 'AZURE_OPENAI_DEPLOYMENT',
  address: 'AZURE_OPENAI_ENDPOINT',
}

/**
 * Chooses the first model that is configured: OpenAI or a compatible server, Anthropic, Google, Azure
 * OpenAI.
 * @throws Error for an invalid address or key, or for a missing one
 */
export async function chooseModel(
  env: NodeJS.ProcessEnv,
  isWatched: boolean,
): Promise<ChosenModel> {
  return (
    openAI(settings(env, openAIVariables)) ??
    anthropic(settings(env, anthropicVariables)) ??
    google(settings(env, googleVariables)) ??
    azure(settings(env, azureVariables)) ??
    standIn(isWatched)
  )
}

type Settings = Readonly<Partial<Record<keyof ModelVariables, string>>>

function settings(env: NodeJS.ProcessEnv, variables: ModelVariables): Settings {
  const read = Object.entries(variables).map(([field, name]) => [field, env[name]?.trim()])
  return Object.fromEntries(read.filter(([, value]) => value))
}

function openAI({ key, model = 'gpt-5-mini', address }: Settings): ChosenModel | undefined {
  if (key === undefined && address === undefined) return undefined
  checkKey(key, openAIVariables)
  const url = checkedAddress(address ?? 'https://api.openai.com/v1', openAIVariables)
  const client = new OpenAIChatCompletionsClient({ apiKey: key, baseURL: address, model })
  return chosen(client, model, url, key !== undefined, openAIVariables)
}

function anthropic({
  key,
  model = 'claude-sonnet-5-5',
  address,
}: Settings): ChosenModel | undefined {
  if (key === undefined) return undefined
  checkKey(key, anthropicVariables)
  const url = checkedAddress(address ?? 'https://api.anthropic.com', anthropicVariables)
  const client = new AnthropicChatClient({ apiKey: key, baseURL: address, model })
  return chosen(client, model, url, true, anthropicVariables)
}

function google({ key, model = 'gemini-3.8-flash', address }: Settings): ChosenModel | undefined {
  if (key === undefined) return undefined
  checkKey(key, googleVariables)
  const url = checkedAddress(
    address ?? 'https://generativelanguage.googleapis.com',
    googleVariables,
  )
  const client = new GoogleChatClient({ apiKey: key, baseURL: address, model })
  return chosen(client, model, url, true, googleVariables)
}

function azure(given: Settings): ChosenModel | undefined {
  const { key, model, address } = given
  if (key === undefined && address === undefined) return undefined
  if (key === undefined || model === undefined || address === undefined) {
    const missing = Object.entries(azureVariables)
      .filter(([field]) => given[field as keyof Settings] === undefined)
      .map(([, name]) => name)
    throw new Error(`Azure OpenAI needs ${missing.join(' and ')}, too`)
  }
  checkKey(key, azureVariables)
  const url = checkedAddress(address, azureVariables)
  const client = new AzureOpenAIChatClient({ apiKey: key, endpoint: address, deployment: model })
  return chosen(client, model, url, true, azureVariables)
}

function checkKey(key: string | undefined, variables: ModelVariables): void {
  if (key !== undefined && !/^[\x21-\x7e]+$/u.test(key)) {
    throw new Error(`${variables.key} contains characters that are not allowed in a key`)
  }
}

function checkedAddress(address: string, variables: ModelVariables): URL {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/u.test(url.protocol)) {
    throw new Error(`${variables.address} is not an address such as https://example.com`)
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error(`${variables.address} must not contain credentials: set ${variables.key}`)
  }
  return url
}

function chosen(
  client: ChatClient,
  name: string,
  url: URL,
  hasKey: boolean,
  variables: ModelVariables,
): ChosenModel {
  const address = url.origin + url.pathname
  return {
    client,
    name,
    address,
    hasKey,
    variables,
    notes: [`Model: ${name} at ${address}`],
    [Symbol.asyncDispose]: async () => {},
  }
}

/** Starts a local server with the same protocol, so that the agent needs no change. */
async function standIn(isWatched: boolean): Promise<ChosenModel> {
  const server = await startModelServer({
    answer,
    failures: [{ status: 503, body: { error: { message: 'staged' } } }],
    chunkDelayMs: isWatched ? 30 : 0,
  })
  const name = 'lamella-stand-in'
  return {
    client: new OpenAIChatCompletionsClient({
      apiKey: 'none',
      baseURL: server.baseURL,
      model: name,
      provider: 'stand-in',
    }),
    name,
    address: server.baseURL,
    hasKey: false,
    variables: openAIVariables,
    notes: [
      'Model: a deterministic stand-in, not a language model. See --help for a real one.',
      'It matches words and quotes the documents. Its first call fails on purpose, to show a retry.',
    ],
    [Symbol.asyncDispose]: () => server.close(),
  }
}
