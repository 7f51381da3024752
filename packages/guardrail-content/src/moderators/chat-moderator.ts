import type { ChatClient, ChatOptions, ChatResponse } from '@lamella/core'
import { callInternally, checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ModerationScore, Moderator } from './moderator.ts'
import { moderationFailed, overlapping, worstScores } from './moderator.ts'

/** Options of the moderators that are models behind a chat client. */
export interface ChatModeratorOptions {
  /** Client of the model, such as one for Ollama, vLLM, Groq or NVIDIA NIM. */
  readonly client: ChatClient
  /** Model. @default the client's */
  readonly model?: string | undefined
  /** Further options of the model calls. @default { temperature: 0 } */
  readonly options?: ChatOptions | undefined
  /**
   * Maximum length of one input in characters. Longer texts are judged in pieces; the worst score counts.
   * @default 8000
   */
  readonly maxChars?: number | undefined
}

type Scores = Readonly<Record<string, ModerationScore>>

/**
 * Creates a moderator on Meta's safety classifiers for Llama, by any chat client. Categories are the names of its taxonomy,
 * such as `violent_crimes` and `self_harm`; a new code counts as `unsafe`.
 * @see https://github.com/meta-llama/PurpleLlama
 */
export function llamaModeration(options: ChatModeratorOptions): Moderator {
  return chatModerator('llamaModeration', options, (answer) => {
    const lines = answer.split('\n').map((line) => line.trim())
    const [verdict = '', codes = '', ...more] = lines.filter((line) => line !== '')
    if (verdict === 'safe' && codes === '') return {}
    const named = listed(codes)
    if (verdict !== 'unsafe' || more.length > 0 || !named.every((code) => /^S\d{1,2}$/.test(code)))
      return undefined
    return flagged(named.map((code) => llamaCategories[Number(code.slice(1)) - 1] ?? 'unsafe'))
  })
}

/**
 * Creates a moderator on NVIDIA's content safety model for NeMo, by any chat client. Categories are those of
 * the model, in lower case with `_`, such as `guns_and_illegal_weapons`.
 * @see https://docs.nvidia.com/nim/llama-3-1-nemoguard-8b-contentsafety
 */
export function nemoModeration(options: ChatModeratorOptions): Moderator {
  return chatModerator('nemoModeration', options, (answer) => {
    let said: Readonly<Record<string, unknown>>
    try {
      said = Object(JSON.parse(answer)) as Record<string, unknown>
    } catch {
      return undefined
    }
    const { 'User Safety': user, 'Response Safety': response, 'Safety Categories': named } = said
    const verdicts = [user, response].filter((one) => one !== undefined)
    const isKnown =
      verdicts.length > 0 && verdicts.every((one) => one === 'safe' || one === 'unsafe')
    if (!isKnown) return undefined
    if (!verdicts.includes('unsafe')) return {}
    const names = typeof named === 'string' ? listed(named).filter((name) => name !== '') : []
    return flagged(names.length > 0 ? names.map(nameOf) : ['unsafe'])
  })
}

/** `read` returns `undefined` for an answer of another form, which is no verdict. */
function chatModerator(
  name: string,
  options: ChatModeratorOptions,
  read: (answer: string) => Scores | undefined,
): Moderator {
  checkOptions(name, options, { client: 'any', model: 'string?', options: 'any', maxChars: 1 })
  const { client, model, maxChars = 8000 } = options
  if (typeof (client as Partial<ChatClient> | undefined)?.getResponse !== 'function') {
    throw wrongOption(name, 'client', 'a chat client', client)
  }
  const chosen = { temperature: 0, ...options.options, ...(model !== undefined && { model }) }

  return {
    name,
    moderate: async (input, signal, run) => {
      if (input.type !== 'text') throw moderationFailed(name, 'it reads no images')
      const ask = async (text: string): Promise<Scores> => {
        const call = { ...chosen, signal }
        let response: ChatResponse
        try {
          response =
            run === undefined
              ? await client.getResponse(text, call)
              : await callInternally(run, { middleware: name, client, input: text, options: call })
        } catch (error) {
          signal.throwIfAborted()
          throw moderationFailed(name, 'the model call failed', error)
        }
        const scores = read(response.text)
        if (scores === undefined) throw moderationFailed(name, 'the answer is no verdict')
        return scores
      }
      return worstScores(await Promise.all(overlapping(input.text, maxChars).map(ask)))
    },
  }
}

function flagged(categories: readonly string[]): Scores {
  return Object.fromEntries(categories.map((name) => [name, { flagged: true, score: 1 }]))
}

function nameOf(category: string): string {
  return category
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '')
}

/** S1 to S14. */
const llamaCategories: readonly string[] = [
  'violent_crimes',
  'non_violent_crimes',
  'sex_crimes',
  'child_exploitation',
  'defamation',
  'specialized_advice',
  'privacy',
  'intellectual_property',
  'indiscriminate_weapons',
  'hate',
  'self_harm',
  'sexual_content',
  'elections',
  'code_interpreter_abuse',
]

function listed(names: string): readonly string[] {
  return names.split(',').map((name) => name.trim())
}
