import type { ChatContext, ChatOptions, Message } from '@lamella/core'
import type { ChatClient } from '@lamella/core'
import { mergeChatOptions } from '@lamella/core/authoring'

/** A client that a call may go to, with its model and options. */
export interface ClientEntry {
  readonly client: ChatClient
  readonly model?: string | undefined
  readonly options?: ChatOptions | undefined
}

/** Client, messages and options of a call before any switch. */
export type OwnCall = Pick<ChatContext, 'client' | 'messages' | 'options'>

/** Switches a call to a client and its options, with the messages as it can read them. */
export function enterClient(
  context: ChatContext,
  own: OwnCall,
  { client, model, options }: ClientEntry,
  messages: readonly Message[] = own.messages,
): void {
  const isOther = client !== own.client
  context.client = client
  context.messages = isOther ? (client.prepareHistory?.(messages) ?? messages) : messages
  // A model is a name of one provider.
  const asked = model ?? (isOther ? undefined : own.options.model)
  context.options = mergeChatOptions({ ...own.options, model: asked }, options)
}
