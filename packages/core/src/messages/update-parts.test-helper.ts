import type { ChatResponseUpdate } from './chat-response.ts'
import type {
  Content,
  FunctionCallContent,
  FunctionResultContent,
  ReasoningContent,
  TextContent,
} from './content.ts'

export function say(value: string, rest: Partial<TextContent> = {}): TextContent {
  return { type: 'text', text: value, ...rest }
}

export function think(value: string, rest: Partial<ReasoningContent> = {}): ReasoningContent {
  return { type: 'reasoning', text: value, ...rest }
}

export function call(rest: Partial<FunctionCallContent>): FunctionCallContent {
  return { type: 'function-call', callId: '', name: '', arguments: '', ...rest }
}

export function update(...contents: Content[]): ChatResponseUpdate {
  return { contents }
}

export const result: FunctionResultContent = {
  type: 'function-result',
  callId: 'c1',
  contents: [say('4')],
}
export const results: ChatResponseUpdate = { contents: [result], role: 'tool', messageId: 't1' }
