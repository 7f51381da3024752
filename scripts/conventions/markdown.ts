export interface Snippet {
  /** The code, with blank lines before it so that its line numbers are those of the document. */
  code: string
  /** Line of the opening fence, from 1. */
  line: number
}

export interface Link {
  target: string
  line: number
}

interface Fence {
  info: string
  line: number
  body: string[]
}

/**
 * The TypeScript blocks of a Markdown text. What a block needs but a reader need not see stands in
 * an HTML comment that starts with `<!-- context` right before the block, and is compiled with it.
 */
export function snippets(markdown: string): Snippet[] {
  const lines = markdown.split('\n')
  return fences(lines)
    .filter(({ info }) => info === 'ts')
    .map(({ line, body }) => {
      const code = lines.map(() => '')
      for (const [index, text] of contextBefore(lines, line)) code[index] = text
      for (const [offset, text] of body.entries()) code[line + offset] = text
      return { code: code.join('\n').trimEnd(), line }
    })
}

/** The TypeScript blocks below `@example` in the doc comments of a source. */
export function docExamples(source: string): Snippet[] {
  let isExample = false
  const lines = source.split('\n').map((line) => {
    const [, comment] = /^\s*\* ?(?!\/)(.*)$/.exec(line) ?? []
    if (comment === undefined || comment.startsWith('@')) {
      isExample = comment?.startsWith('@example') === true
      return ''
    }
    return isExample ? comment : ''
  })
  return snippets(lines.join('\n'))
}

/** Lines of fences that hold TypeScript but would not be compiled, because they do not say just `ts`. */
export function uncheckedFences(markdown: string): number[] {
  return fences(markdown.split('\n'))
    .filter(({ info }) => /^(ts\b|tsx|typescript|mts|cts)/i.test(info) && info !== 'ts')
    .map(({ line }) => line)
}

/** Links of a Markdown text that point inside the repository. */
export function internalLinks(markdown: string): Link[] {
  return prose(markdown).flatMap((text, index) =>
    [...text.matchAll(/\]\(<?([^)\s>]+)>?[^)]*\)/g)]
      .map((match) => ({ target: match[1] ?? '', line: index + 1 }))
      .filter(({ target }) => !/^[a-z][a-z0-9+.-]*:/i.test(target)),
  )
}

/** A Markdown text with every link outside of code as `replace` returns it. */
export function replaceLinks(
  markdown: string,
  replace: (link: { text: string; target: string; whole: string }) => string,
): string {
  const code: string[] = []
  const restore = (text: string): string =>
    text.replaceAll(/\ue000(\d+)\ue000/g, (_, index) => code[Number(index)] ?? '')
  const masked = markdown.replaceAll(
    /^([ \t]*)(`{3,}|~{3,})[^]*?^\1\2[ \t]*$|(?<!`)(`+)(?!`)[^]*?(?<!`)\3(?!`)|<!--[^]*?-->/gm,
    (span) => `\ue000${code.push(span) - 1}\ue000`,
  )
  const replaced = masked.replaceAll(
    /(?<!!)\[([^[\]]*)\]\(([^)\s]+)\)/g,
    (whole, text: string, target: string) =>
      replace({ text: restore(text), target, whole: restore(whole) }),
  )
  return restore(replaced)
}

/** Sentences of the prose of a Markdown text: without code, tables, headings and link targets. */
export function sentences(markdown: string): string[] {
  const text = markdown
    .replaceAll(/<!--[^]*?-->/g, '')
    .replaceAll(/^\s*(`{3,})[^]*?^\s*\1/gm, '')
    .replaceAll(/^\s*\|.*$/gm, '')
    .replaceAll(/^#+ .*$/gm, '')
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/`[^`]*`/g, 'code')
    .replaceAll(/[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}/g, '')
  return text
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )/)
    .flatMap((part) => part.replaceAll('\n', ' ').split(/(?<=[.!?:;])\s+/))
    .filter((sentence) => /\p{L}{2,}/u.test(sentence))
}

/** The anchors that GitHub gives to the headings of a Markdown text. */
export function anchors(markdown: string): Set<string> {
  const seen = new Map<string, number>()
  const found = new Set<string>()
  for (const text of prose(markdown, { keepCode: true })) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(text)?.[1]
    if (heading === undefined) continue
    const slug = heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    found.add(count === 0 ? slug : `${slug}-${count}`)
  }
  return found
}

/** The lines of a text with fenced blocks, and unless asked code spans, blanked out. */
function prose(markdown: string, { keepCode = false } = {}): string[] {
  const lines = markdown.split('\n')
  for (const { line, body } of fences(lines)) lines.fill('', line - 1, line + body.length)
  return keepCode ? lines : lines.map((text) => text.replace(/`[^`]*`/g, ''))
}

function fences(lines: readonly string[]): Fence[] {
  const found: Fence[] = []
  let open: (Fence & { mark: string; indent: string }) | undefined
  for (const [index, text] of lines.entries()) {
    if (open === undefined) {
      const start = /^(\s*)(`{3,}|~{3,})\s*(.*?)\s*$/.exec(text)
      if (start === null) continue
      const [, indent = '', mark = '', info = ''] = start
      open = { mark, indent, info, line: index + 1, body: [] }
    } else if (text.trim().startsWith(open.mark)) {
      found.push(open)
      open = undefined
    } else {
      open.body.push(text.startsWith(open.indent) ? text.slice(open.indent.length) : text)
    }
  }
  return open === undefined ? found : [...found, open]
}

/** The lines of the context comment that ends before the fence at `line`, by index. */
function contextBefore(lines: readonly string[], line: number): [number, string][] {
  let end = line - 2
  while (end >= 0 && lines[end]?.trim() === '') end--
  if (lines[end]?.trim() !== '-->') return []
  const start = lines.findLastIndex((text, index) => index < end && text.startsWith('<!--'))
  if (lines[start]?.trim() !== '<!-- context') return []
  return lines.slice(start + 1, end).map((text, offset) => [start + 1 + offset, text])
}
