import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

export const usageText = `npm start -- [--folder PATH] [question]

Answers questions about the documents of a folder: by default the README.md files and docs/ of this
repository. Without a question, it is a chat in a terminal, and a short tour elsewhere.

  --folder PATH     another folder
  --help            this text

A local stand-in answers, unless the environment configures a model. The first configured entry applies:

  1. OpenAI         OPENAI_API_KEY, or OPENAI_BASE_URL for any compatible server, with or without a
                    key; OPENAI_MODEL
  2. Anthropic      ANTHROPIC_API_KEY; ANTHROPIC_MODEL, ANTHROPIC_BASE_URL
  3. Google         GEMINI_API_KEY; GEMINI_MODEL, GOOGLE_GEMINI_BASE_URL
  4. Azure OpenAI   AZURE_OPENAI_ENDPOINT, AZURE_OPENAI_API_KEY and AZURE_OPENAI_DEPLOYMENT`

export interface CommandLine {
  /** Absolute. */
  readonly folder: string | undefined
  readonly question: string | undefined
  readonly help: boolean
}

/** @throws Error that names the option */
export function readCommandLine(args: readonly string[]): CommandLine {
  const options = { folder: { type: 'string' }, help: { type: 'boolean' } } as const
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true })
  const words: string[] = []
  let folder: string | undefined
  let help = false
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    if (token.name === 'help') help = true
    else if (token.name !== 'folder')
      throw new Error(`unknown option ${token.rawName}, expected --folder PATH or --help`)
    else if (!token.value) throw new Error('--folder needs a path')
    else folder = fromUsersFolder(token.value)
  }
  // Without a `--` before it, npm consumes the option, and leaves its value among the words.
  const taken = process.env['npm_config_folder']
  if (taken && folder === undefined)
    folder = fromUsersFolder(taken === 'true' ? (words.shift() ?? '.') : taken)
  return { folder, help, question: words.join(' ').trim() || undefined }
}

/** Resolves a path from the user's folder: npm runs scripts at the root of the repository. */
function fromUsersFolder(path: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', path)
}
