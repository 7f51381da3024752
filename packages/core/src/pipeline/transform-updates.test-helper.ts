import type { AgentResponseUpdate, Middleware, UpdateTransformer } from '../index.ts'
import { agentMiddleware, chatMiddleware, jsonSchema, text, tool } from '../index.ts'

export type Transformer = UpdateTransformer<AgentResponseUpdate>

export function transforming(
  transformer: Transformer | (() => Transformer),
  level: 'agent' | 'chat' = 'chat',
): Middleware {
  const process = async (
    context: { transformUpdates(transformer: Transformer): void },
    callNext: () => Promise<unknown>,
  ): Promise<void> => {
    context.transformUpdates(typeof transformer === 'function' ? transformer() : transformer)
    await callNext()
  }
  return level === 'chat'
    ? chatMiddleware('transforming', process)
    : agentMiddleware('transforming', process)
}

export function editing(edit: (value: string) => string): Transformer {
  return {
    transform(update, controller) {
      const contents = update.contents.map((content) =>
        content.type === 'text' ? text(edit(content.text)) : content,
      )
      controller.enqueue({ ...update, contents })
    },
  }
}

export function adding(value: string): Transformer {
  return { flush: (controller) => controller.enqueue({ contents: [text(value)] }) }
}

export const look = tool({
  name: 'look',
  description: 'Looks.',
  parameters: jsonSchema({ type: 'object' }),
  execute: () => 'found a secret',
})
