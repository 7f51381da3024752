/** Differences between Google's models that decide how a request is written. */
export interface ModelTraits {
  /** True from Gemini 3 on: calls must carry their signature, and tools of both kinds go together. */
  readonly isModern: boolean
  /** How the amount of thinking is set. */
  readonly thinking: 'level' | 'budget' | 'none'
  /** Least amount of thinking: a level, or tokens. */
  readonly leastThinking: 'MINIMAL' | 'LOW' | number
  /** True if the level `XHIGH` exists. */
  readonly thinksHardest: boolean
  /** False if the system prompt belongs into the first message of the user. */
  readonly takesInstructions: boolean
}

/** Returns the traits of a model by its name. An unknown name counts as one of the newest models. */
export function modelTraits(model = ''): ModelTraits {
  const name = model.toLowerCase().replace(/^.*\//, '')
  const [, major = '', minor = '0', line = ''] =
    /^gemini-(\d+)(?:\.(\d+))?-?([a-z]*)/.exec(name) ?? []
  const isGemma = name.startsWith('gemma')
  const isOlder = isGemma || /^(gemini-(1|2|pro$|pro-vision)|learnlm|palm|text-)/.test(name)
  const version = Number(major) * 100 + Number(minor)
  const hasBudget = isOlder && version === 205
  return {
    isModern: !isOlder,
    thinking: !isOlder ? 'level' : hasBudget ? 'budget' : 'none',
    leastThinking: hasBudget
      ? line === 'pro'
        ? 128
        : 0
      : startsLow(version, line, name)
        ? 'LOW'
        : 'MINIMAL',
    thinksHardest: name.startsWith('gemini-4-hydrogen'),
    takesInstructions: !isGemma,
  }
}

/** Pro models, and Flash from 3.7 on, have no level `MINIMAL` (2026-11). */
function startsLow(version: number, line: string, name: string): boolean {
  if (/-pro(-|$)|-hydrogen/.test(name) || name === 'gemini-flash-latest') return true
  return line === 'flash' && version >= 307 && !name.includes('-lite')
}
