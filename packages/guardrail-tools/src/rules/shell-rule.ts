import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ArgumentRule } from './argument-rule.ts'
import { nameGlob } from './name-glob.ts'

/** Options of {@link shell}. */
export interface ShellRuleOptions {
  /** Allowed commands with their words, such as `git status`; `ls *` allows any words behind it. */
  readonly allow: readonly string[]
  /** Refused words, such as `-exec` or `--output*`. @default none */
  readonly deny?: readonly string[] | undefined
}

/**
 * Requires one command of a list, as a text or as a list of words. Refuses a text with operators,
 * substitutions, variables, redirections, line breaks or escapes of a shell.
 */
export function shell(options: ShellRuleOptions): ArgumentRule {
  checkOptions('shell', options, { allow: 'any', deny: 'any' })
  const { allow, deny = [] } = options
  if (!Array.isArray(allow) || allow.length === 0)
    throw wrongOption('shell', 'allow', 'a list', allow)
  const commands = allow.map((command) => command.split(' ').filter(Boolean))
  const isDenied = nameGlob(deny)
  return {
    check: (value) => {
      const words = Array.isArray(value) ? value : wordsOf(value)
      if (words === undefined || !words.every((word) => typeof word === 'string')) {
        return 'must be one plain command'
      }
      if (words.some(isDenied)) return 'has a word that is not allowed'
      const isAllowed = commands.some((command) => matches(words, command))
      return isAllowed ? undefined : 'is not one of the commands that are allowed'
    },
  }
}

// A shell interprets nothing within single quotes, and some characters within double quotes.
const word = /\s*((?:'[^']*'|"[^"$`\\!]*"|[^\s'"$`\\;&|<>(){}[\]*?!#~])+)(?:[^\S\n\r]+|$)/y

/** Returns the words of a command, or `undefined` if a shell would see more than words. */
function wordsOf(value: unknown): string[] | undefined {
  if (typeof value !== 'string' || /[\n\r\0]/.test(value)) return undefined
  const words: string[] = []
  const text = value.trim()
  for (let at = 0; at < text.length; at = word.lastIndex) {
    word.lastIndex = at
    const found = word.exec(text)?.[1]
    if (found === undefined) return undefined
    words.push(found.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'))
  }
  return words
}

function matches(words: readonly string[], command: readonly string[]): boolean {
  const isOpen = command.at(-1) === '*'
  const given = isOpen ? command.slice(0, -1) : command
  const fits = isOpen ? words.length >= given.length : words.length === given.length
  return fits && given.every((part, index) => words[index] === part)
}
