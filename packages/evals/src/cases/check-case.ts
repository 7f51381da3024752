import { isObject } from '@lamella/core/authoring'
import type { EvaluationCase } from './evaluation-case.ts'

/**
 * Checks the form of a case that comes from a file or from JavaScript.
 * @throws TypeError that names the place and the field
 */
export function checkCase(place: string, value: unknown): EvaluationCase {
  if (!isObject(value)) throw new TypeError(`${place}: a case must be an object`)
  const { id, input, turns, goal, tags, toolResults } = value
  const wrong = (field: string, wish: string): never => {
    throw new TypeError(`${place}: \`${field}\` of a case must be ${wish}`)
  }
  if (typeof id !== 'string' || id === '' || id.length > longestId)
    wrong('id', `a text of 1 to ${longestId} characters`)
  if (input === undefined || input === null) wrong('input', 'a text, a message or a list of them')
  if (turns !== undefined && !Array.isArray(turns)) wrong('turns', 'a list of inputs')
  if (goal !== undefined && typeof goal !== 'string') wrong('goal', 'a text')
  const isText = (tag: unknown): boolean => typeof tag === 'string'
  if (tags !== undefined && !(Array.isArray(tags) && tags.every(isText)))
    wrong('tags', 'a list of texts')
  const isResult = (result: unknown): boolean =>
    isObject(result) && typeof result['name'] === 'string'
  if (toolResults !== undefined && !(Array.isArray(toolResults) && toolResults.every(isResult)))
    wrong('toolResults', 'a list of results, each with the `name` of its tool')
  return value as unknown as EvaluationCase
}

const longestId = 200
