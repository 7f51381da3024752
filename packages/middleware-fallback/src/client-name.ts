import type { ChatClient } from '@lamella/core'

/** Name of a client with its model, such as `openai/gpt-5`, or `east/gpt-5` for a client named `east`. */
export function clientName(
  { name, provider, model: own }: Pick<ChatClient, 'name' | 'provider' | 'model'>,
  model: string | undefined = own,
): string {
  return model === undefined ? (name ?? provider) : `${name ?? provider}/${model}`
}
