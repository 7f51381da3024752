import { nameGlob } from '../rules/name-glob.ts'
import type { ToolPolicyEvent, ToolPolicyOptions } from './tool-policy-options.ts'

/** Name or glob in an option of a policy that fits no tool. */
export type UnmatchedName = Pick<ToolPolicyEvent, 'option' | 'tool'>

/** Lists what a policy says about tools that are not there, such as a misspelled name. */
export function unmatchedNames(
  { allow = [], ask = [], deny = [], rules = {}, maxCalls = {}, pinned = {} }: ToolPolicyOptions,
  tools: readonly string[],
): readonly UnmatchedName[] {
  const named = {
    allow,
    ask,
    deny,
    rules: Object.keys(rules),
    maxCalls: Object.keys(maxCalls),
    pinned: Object.keys(pinned),
  }
  return Object.entries(named).flatMap(([option, names]) =>
    names
      .filter((name) => !tools.some(nameGlob([name])))
      .map((tool) => ({ option: option as UnmatchedName['option'], tool })),
  )
}

/** Describes them, such as "`ask` names no tool: refund". */
export function unmatchedText(
  name: string,
  unmatched: readonly UnmatchedName[],
): readonly string[] {
  return unmatched.map(({ option, tool }) => `${name}: \`${option}\` names no tool: ${tool}`)
}
