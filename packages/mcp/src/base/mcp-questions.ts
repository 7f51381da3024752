import { defineEvent, jsonSchema } from '@lamella/core'

/** A server asks a person for input while it runs a tool. */
export interface McpElicitation {
  /** Name of the server, as you gave it. */
  readonly server: string
  /**
   * Name of the tool for the model. With an older revision of the protocol, one of the tools that
   * the run is calling.
   */
  readonly tool: string
  /** Text of the server for the person. */
  readonly message: string
  /** For `form`: a JSON Schema of the wanted values, a flat object. */
  readonly requestedSchema?: Readonly<Record<string, unknown>> | undefined
  /** For `url`: a page for the person to open. It has not been opened. */
  readonly url?: string | undefined
  /** Host of the `url`, to be shown before the page is opened. */
  readonly host?: string | undefined
}

/** Answer to an `McpElicitation`. */
export interface McpElicitationAnswer {
  /** `decline` says no; `cancel` gives no answer. */
  readonly action: 'accept' | 'decline' | 'cancel'
  /**
   * Values that fit `requestedSchema`, for `accept` of a form. Omitted values get the schema's
   * defaults.
   */
  readonly content?: Readonly<Record<string, unknown>> | undefined
}

/** A server asks for a model call while it runs a tool. Sent for approval, unless `approval` is `'never'`. */
export interface McpSampling {
  /** Name of the server, as you gave it. */
  readonly server: string
  /** Name of the tool for the model. */
  readonly tool: string
  /** Instructions that the server wants the model to have. */
  readonly instructions?: string | undefined
  /** Texts that the server wants the model to read. */
  readonly messages: readonly { readonly role: string; readonly text: string }[]
  /** Maximum number of tokens of the answer. */
  readonly maxTokens: number
}

/**
 * Event of a server's question for a person. The caller answers it by `onRequest` or `stream.respond`.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { mcpElicitation } from '@lamella/mcp'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Booked.']) })
 * await agent.run('Book a table.', {
 *   onRequest: (event) =>
 *     mcpElicitation.is(event) ? { action: 'accept', content: { guests: 2 } } : undefined,
 * })
 * ```
 */
export const mcpElicitation: ReturnType<typeof defineEvent<McpElicitation, McpElicitationAnswer>> =
  defineEvent({
    type: 'mcp/elicitation',
    answer: jsonSchema({
      type: 'object',
      properties: {
        action: { enum: ['accept', 'decline', 'cancel'] },
        content: { type: 'object' },
      },
      required: ['action'],
    }),
  })

/**
 * Event of a server's request for a model call. The caller answers it with `true` or `false`.
 *
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { mcpSampling } from '@lamella/mcp'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ client: scriptedClient(['Roses are red.']) })
 * await agent.run('Write a poem.', {
 *   onRequest: (event) => (mcpSampling.is(event) ? event.data.maxTokens <= 200 : undefined),
 * })
 * ```
 */
export const mcpSampling: ReturnType<typeof defineEvent<McpSampling, boolean>> = defineEvent({
  type: 'mcp/sampling',
  answer: jsonSchema({ type: 'boolean' }),
})
