import { sentences, snippets } from './markdown.ts'
import { publicNames } from './public-names.ts'
import type { Tree } from './tree.ts'

/** Problems of each package, or of `scripts`, `examples` and so on, a line each. */
export type Problems = ReadonlyMap<string, readonly string[]>

/** Measures of the documentation in sources, each by owner. */
export const measures = {
  'public names without a doc comment': (tree) =>
    byOwner(
      publicNames(tree)
        .filter(({ doc }) => doc.trim() === '')
        .map(({ owner, name }) => [owner, name]),
    ),

  'main exports without an @example': (tree) => {
    const known = new Map(publicNames(tree).map((one) => [`${one.owner} ${one.name}`, one]))
    return byOwner(
      mainExports(tree)
        .filter(([owner, name]) => known.get(`${owner} ${name}`)?.hasExample === false)
        .map(([owner, name]) => [owner, name]),
    )
  },

  'doc comments that begin with What, Whether or Where': (tree) =>
    byOwner(
      typescript(tree).flatMap(([owner, path, text]) =>
        [...text.matchAll(/\/\*\*[\s*]*(What|Whether|Where)\b.*/g)].map(({ index, 0: comment }) => {
          return [owner, `${path}:${lineOf(text, index)} ${comment.replaceAll(/[\s*/]+/g, ' ')}`]
        }),
      ),
    ),

  'words that this repository replaces': (tree) =>
    byOwner(
      typescript(tree).flatMap(([owner, path, text]) =>
        text.split('\n').flatMap((line, index) => {
          const found = replacedWord(line)
          return found === undefined ? [] : [[owner, `${path}:${index + 1} ${found}`] as const]
        }),
      ),
    ),

  'phrases of documents that have better ones': (tree) =>
    byOwner(
      documents(tree).flatMap(([owner, path, text]) =>
        proseOf(text).flatMap((line, index) => {
          const found = replacedWord(line) ?? clauseSubject(line)
          return found === undefined ? [] : [[owner, `${path}:${index + 1} ${found}`] as const]
        }),
      ),
    ),

  'sentences of more than 45 words': (tree) =>
    byOwner(
      documents(tree).flatMap(([owner, path, text]) =>
        sentences(text)
          .filter((sentence) => (sentence.match(/\p{L}[\p{L}'’-]*/gu) ?? []).length > 45)
          .map((sentence) => [owner, `${path} ${sentence.slice(0, 80)}`]),
      ),
    ),
} satisfies Record<string, (tree: Tree) => Problems>

const replaced = [
  // The Onion has layers; what a user writes is a middleware.
  /(?<![a-zA-Z])[lL]ayers?(?![a-z]| deep)|[a-z]Layers?(?![a-z])/,
  /(?<![a-zA-Z])guards?(?![a-z])|[a-z]Guards?(?![a-z])|(?<![a-zA-Z])Guards?(?![a-z])/,
  /\bscanners?\b/i,
  /\b(go|goes|going|went|gone) on\b/i,
  /\b(give|gives|giving|gave|given) up on\b/i,
  /\b(stand|stands|standing|stood) in for\b/i,
  /\b(in|into) the place of\b/i,
]

/** The word or phrase of a line of source that has a better one. */
function replacedWord(line: string): string | undefined {
  const open = line.replaceAll(/type[- ]guards?|WildGuard/gi, '')
  return replaced.map((word) => word.exec(open)?.[0]).find((found) => found !== undefined)
}

/** A sentence or table cell whose subject is a clause: "What is left is sent." */
function clauseSubject(line: string): string | undefined {
  const sentence =
    /(?:^[-*\s]*|[.:|] )(?:What|Who|Whoever|Whatever|Whether) [^?|:]{3,90} (?:is|are|was|has|have|does|can|must|may|will|stays?|goes) [^?]*$/
  return sentence.exec(line)?.[0].trim().slice(0, 60)
}

/** The lines of a Markdown text, without code. */
function proseOf(markdown: string): string[] {
  let isCode = false
  return markdown.split('\n').map((line) => {
    const isFence = /^ *(?:```|~~~)/.test(line)
    if (isFence) isCode = !isCode
    return isCode || isFence ? '' : line.replaceAll(/`[^`]*`/g, '`')
  })
}

/** What the first block of a package's README imports from the package: its owner and its name. */
function mainExports(tree: Tree): [string, string][] {
  return [...tree].flatMap(([path, text]) => {
    const owner = /^packages\/([^/]+)\/README\.md$/.exec(path)?.[1]
    const [first] = snippets(text)
    if (owner === undefined || first === undefined) return []
    const imports = first.code.matchAll(/^import \{([^}]*)\} from '@lamella\/([\w-]+)[\w/-]*'/gm)
    return [...imports]
      .filter(([, , from]) => from === owner)
      .flatMap(([, names = '']) => names.split(','))
      .map((name) => name.trim())
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name): [string, string] => [owner, name])
  })
}

function typescript(tree: Tree): [owner: string, path: string, text: string][] {
  return [...tree].flatMap(([path, text]): [string, string, string][] => {
    const [, name, folder] =
      /^(?:packages\/([^/]+)|(scripts|tests|examples|templates|bench))\//.exec(path) ?? []
    const owner = name ?? folder
    // The rules themselves name what they look for.
    const isOurs = /\.m?ts$/.test(path) && !path.startsWith('scripts/conventions/')
    return owner !== undefined && isOurs ? [[owner, path, text]] : []
  })
}

function documents(tree: Tree): [owner: string, path: string, text: string][] {
  return [...tree].flatMap(([path, text]): [string, string, string][] => {
    // The glossary names the words that it replaces.
    const isProse =
      path.endsWith('.md') && !/CHANGELOG\.md$|\/api\/|^docs\/glossary\.md$/.test(path)
    if (!isProse) return []
    const [, name] = /^packages\/([^/]+)\//.exec(path) ?? /^(\w+)\//.exec(path) ?? []
    return [[name ?? 'repository', path, text]]
  })
}

function byOwner(problems: Iterable<readonly [owner: string, problem: string]>): Problems {
  const found = new Map<string, string[]>()
  for (const [owner, problem] of problems) {
    found.set(owner, [...(found.get(owner) ?? []), problem])
  }
  return found
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}
