import type { ScriptedClient, ScriptedRequest } from '@lamella/testing'
import { scriptedClient } from '@lamella/testing'

/** A question to the judge. */
export interface Question {
  readonly ticket: string
  readonly data: {
    readonly text: string
    readonly conversation?: readonly { readonly role: string; readonly text: string }[]
    readonly agentInstructions?: string
  }
}

export function questionOf({ instructions = '', messages }: ScriptedRequest): Question {
  const [content] = messages[0]?.contents ?? []
  return {
    ticket: /"ticket":"([^"]+)"/.exec(instructions)?.[1] ?? '',
    data: JSON.parse(content?.type === 'text' ? content.text : ''),
  }
}

/** Creates a judge that scores texts in the right form. */
export function scriptedJudge(
  scores: (text: string) => Readonly<Record<string, number>>,
  more: object = {},
): ScriptedClient {
  return scriptedClient((request) => {
    const { data, ticket } = questionOf(request)
    const answer = { ticket, ...more, scores: scores(data.text) }
    return {
      messages: JSON.stringify(answer),
      usage: { inputTokens: 90, outputTokens: 10, totalTokens: 100 },
    }
  })
}

/** Creates a judge that objects to fish. */
export const fishJudge = (): ScriptedClient =>
  scriptedJudge((text) => ({ fish: /fish/i.test(text) ? 1 : 0 }))

export const noFish = [
  { id: 'fish', question: 'Does the text speak of fish?', failIf: 'yes', feedback: 'No fish.' },
] as const
