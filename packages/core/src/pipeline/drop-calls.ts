import type { AgentResponseUpdate } from '../contract/outcome.ts'
import type { Content } from '../messages/content.ts'
import type { Run } from '../run/run.ts'
import type { UpdateTransformer } from '../stream/update-transformer.ts'

/**
 * Enforces `toolChoice: 'none'`: calls that this process would have to run are dropped, whatever
 * the provider sent. If nothing that a person can see is left, `fallbackText` takes its place.
 */
export function dropCalls(run: Run): UpdateTransformer<AgentResponseUpdate> {
  const { fallbackText } = run
  let visible = false
  let dropped = false
  let messageId: string | undefined
  return {
    transform(update, controller) {
      messageId = update.messageId ?? messageId
      const contents = update.contents.filter((content) => !isLocal(content))
      const drops = contents.length < update.contents.length
      dropped ||= drops
      visible ||= contents.some(isVisible)
      const kept = drops ? { ...update, contents } : update
      const ends = dropped && update.finishReason === 'tool-calls'
      controller.enqueue(ends ? { ...kept, finishReason: 'stop' } : kept)
    },
    flush(controller) {
      if (visible || fallbackText === undefined) return
      controller.enqueue({
        contents: [{ type: 'text', text: fallbackText }],
        role: 'assistant',
        messageId: messageId ?? run.ids.createId('msg'),
      })
    },
  }
}

function isLocal(content: Content): boolean {
  if (content.type === 'function-call') return content.informational !== true
  return content.type === 'approval-request' && content.hosted !== true
}

/** Of contents that are not local. */
function isVisible(content: Content): boolean {
  if (content.type === 'text' || content.type === 'refusal') return content.text.trim() !== ''
  if (content.type === 'hosted') return content.name === 'file'
  return ['data', 'uri', 'error', 'approval-request'].includes(content.type)
}
