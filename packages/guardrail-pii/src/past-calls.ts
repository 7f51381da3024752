import type {
  ChatMiddleware,
  Content,
  FunctionCallContent,
  GuardedContext,
  RunContext,
} from '@lamella/core'
import { defineState } from '@lamella/core'
import type { LayerOptions } from '@lamella/core/authoring'
import { chatLayer } from '@lamella/core/authoring'

/** Replaces what is found in the arguments of earlier calls, which a guard on input does not read. */
export function pastCalls(
  options: LayerOptions<GuardedContext, never>,
  replace: (json: string, run: RunContext) => string,
): ChatMiddleware {
  const replacedCalls = defineState({
    name: `${options.name}.calls`,
    initial: () => new WeakMap<FunctionCallContent, FunctionCallContent>(),
  })

  return chatLayer('pii', options, async (context, callNext) => {
    const { run, messages } = context
    const known = run.state.get(replacedCalls)
    const replaced = (content: Content): Content => {
      if (content.type !== 'function-call') return content
      let call = known.get(content)
      if (call === undefined) {
        const json = replace(content.arguments, run)
        call = json === content.arguments ? content : { ...content, arguments: json }
        known.set(content, call)
      }
      return call
    }
    const safe = messages.map((message) => {
      const contents = message.contents.map(replaced)
      const isSame = contents.every((content, at) => content === message.contents[at])
      return isSame ? message : { ...message, contents }
    })
    if (safe.some((message, at) => message !== messages[at])) context.messages = safe
    await callNext()
  })
}
