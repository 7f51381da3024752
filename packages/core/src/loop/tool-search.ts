import { jsonSchema } from '../base/json-schema.ts'
import { checkOptions } from '../base/check-options.ts'
import type { Tool, ToolDefinition } from '../contract/run.ts'
import { tool } from '../contract/tool.ts'

/** Options of `toolSearch`. */
export interface ToolSearchOptions {
  /** Name of the search tool. @default 'tool_search' */
  readonly name?: string | undefined
  /**
   * Maximum number of tools that a search shows, unless the model requests fewer.
   * @default 5
   */
  readonly maxResults?: number | undefined
  /**
   * Names the deferred tools in the description of the search, at most 200, so that the model knows what it can
   * find. The description changes as tools are found.
   * @default false
   */
  readonly list?: boolean | undefined
}

/**
 * Creates a tool with which the model finds deferred tools (`run.tools.defer`); found tools are
 * shown from the next model call on. `select:a,b` selects tools by name; words match names and
 * descriptions, and a word with a `+` is required.
 * @throws TypeError or RangeError that names the option and the value
 */
export function toolSearch(options: ToolSearchOptions = {}): Tool {
  checkOptions('toolSearch', options, { name: 'any', maxResults: 1, list: [true, false] })
  const { name = 'tool_search', maxResults = 5, list = false } = options
  return tool({
    name,
    description:
      'Finds tools that are not shown yet. Words search names and descriptions; "+word" must be there; "select:a,b" takes tools by name. What is found can be called from the next step on.',
    parameters: jsonSchema({
      type: 'object',
      properties: {
        query: { type: 'string' },
        maxResults: { type: 'integer', minimum: 1 },
      },
      required: ['query'],
      additionalProperties: false,
    }),
    readOnly: true,
    ...(list && { metadata: { listsDeferred: true } }),
    execute(args, { tools }) {
      const most = Math.min(Number(args['maxResults'] ?? maxResults), maxResults)
      const found = search(tools.deferred, String(args['query'])).slice(0, most)
      tools.show(...found.map((entry) => entry.name))
      return {
        found: found.map((entry) => ({ name: entry.name, description: descriptionOf(entry) })),
        notShown: tools.deferred.length,
      }
    },
  })
}

function search(deferred: readonly ToolDefinition[], query: string): readonly ToolDefinition[] {
  if (query.startsWith('select:')) {
    const names = new Set(
      query
        .slice('select:'.length)
        .split(',')
        .map((name) => name.trim()),
    )
    return deferred.filter(({ name }) => names.has(name))
  }
  const words = wordsOf(query.replaceAll('+', ' '))
  const required = query.split(/\s+/).flatMap((word) => (word.startsWith('+') ? wordsOf(word) : []))
  return deferred
    .map((entry) => ({ entry, score: scoreOf(entry, words, required) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ entry }) => entry)
}

/** A word of the name counts most, then a part of one, then the description. */
function scoreOf(
  entry: ToolDefinition,
  words: readonly string[],
  required: readonly string[],
): number {
  const parts = wordsOf(entry.name)
  const description = wordsOf(descriptionOf(entry))
  const score = (word: string): number => {
    if (parts.includes(word)) return 10
    if (parts.some((part) => part.includes(word))) return 5
    return description.some((other) => other.includes(word)) ? 2 : 0
  }
  if (required.some((word) => score(word) === 0)) return 0
  return words.reduce((sum, word) => sum + score(word), 0)
}

/** Of `getUserName` and `get_user-name` alike. */
function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

function descriptionOf(entry: ToolDefinition): string {
  return entry.type === 'function' ? entry.description : ''
}
