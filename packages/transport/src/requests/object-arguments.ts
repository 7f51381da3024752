import { parseObject } from '../wire/wire.ts'

/** The arguments of a call as the JSON object that providers ask for, whatever a model had written. */
export function objectArguments(text: string): string {
  if (text.trim() === '') return '{}'
  return parseObject(text) === undefined ? JSON.stringify({ invalid_arguments: text }) : text
}
