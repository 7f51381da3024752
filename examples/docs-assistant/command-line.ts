import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const usageText = `npm start -- [--folder PATH] [--picture FILE] [question]

Answers questions about the documents of a folder: by default the README.md files and docs/ of this
repository. Without a question, it is a chat in a terminal, and a short tour elsewhere.

  --folder PATH     another folder
  --picture FILE    writes the work of each middleware as an HTML page
  --help            this text

A local stand-in answers, unless the environment configures a model. The first configured entry applies:

  1. OpenAI         OPENAI_API_KEY, or OPENAI_BASE_URL for any compatible server, with or without a
                    key; OPENAI_MODEL
  2. Anthropic      ANTHROPIC_API_KEY; ANTHROPIC_MODEL, ANTHROPIC_BASE_URL
  3. Google         GEMINI_API_KEY; GEMINI_MODEL, GOOGLE_GEMINI_BASE_URL
  4. Azure OpenAI   AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and AZURE_OPENAI_DEPLOYMENT`

/** Options whose value is a path. */
const paths = ['folder', 'picture'] as const

export interface CommandLine {
  /** Absolute. */
  readonly folder: string | undefined
  /** Absolute. */
  readonly picture: string | undefined
  readonly question: string | undefined
  readonly help: boolean
}

/** @throws Error that names the option */
export function readCommandLine(args: readonly string[]): CommandLine {
  const options = {
    ...Object.fromEntries(paths.map((name) => [name, { type: 'string' }] as const)),
    help: { type: 'boolean' },
  } as const
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const words: string[] = []
  const found: Partial<Record<(typeof paths)[number], string>> = {}
  let help = false
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const name = paths.find((path) => path === token.name)
    if (token.name === 'help') help = true
    else if (name === undefined)
      throw new Error(
        `unknown option ${token.rawName}, expected --folder PATH, --picture FILE or --help`,
      )
    else if (!token.value) throw new Error(`--${name} needs a path`)
    else found[name] = fromUsersFolder(token.value)
  }
  // Without a `--` before it, npm consumes an option, and leaves its value among the words.
  for (const name of paths) {
    const taken = process.env[`npm_config_${name}`]
    if (taken) found[name] ??= fromUsersFolder(taken === 'true' ? (words.shift() ?? '.') : taken)
  }
  const { folder, picture } = found
  return { folder, picture, help, question: words.join(' ').trim() || undefined }
}

/** Resolves a path from the user's folder: npm runs scripts at the root of the repository. */
function fromUsersFolder(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', path)
}
