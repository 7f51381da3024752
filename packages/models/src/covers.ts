import type { MatchLogic } from '@pydantic/genai-prices'

/**
 * Returns true if a rule of the source names the whole name, apart from a place before it and a date or
 * version after it. The source's own rules are prefixes, and `claude-opus-4-1` is one of
 * `claude-opus-4-15`.
 */
export function covers(rule: MatchLogic, name: string): boolean {
  if ('or' in rule) return rule.or.some((part) => covers(part, name))
  if ('and' in rule) return rule.and.some((part) => covers(part, name))
  if ('equals' in rule) return rule.equals.toLowerCase() === name
  if ('regex' in rule) return new RegExp(rule.regex, 'i').exec(name)?.[0] === name
  const words = 'starts_with' in rule ? rule.starts_with : wordsIn(rule)
  const start = name.indexOf(words.toLowerCase())
  if (start === -1) return false
  const before = name.slice(0, start)
  return place.test(before) && version.test(name.slice(start + words.length))
}

function wordsIn(rule: { ends_with: string } | { contains: string }): string {
  return 'ends_with' in rule ? rule.ends_with : rule.contains
}

/** A region and a vendor of Bedrock, such as `eu.anthropic.`. */
const place = /^(?:(?:[a-z-]{2,7}\.)?(?:[a-z]+|ai21)\.)?$/

/** A date, `latest`, or a version of Bedrock, such as `-20250929-v1:0`. */
const version =
  /^(?:[-@]?(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|default)|-?\d{4}|-\d{3})?(?:-v\d{1,2})?(?::\d{1,2})?$/
