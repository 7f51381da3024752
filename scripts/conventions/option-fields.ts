/** A field of an options type, as its declaration and its doc comment say. */
export interface OptionField {
  name: string
  isRequired: boolean
  /** What follows `@default`. */
  byDefault: string | undefined
  /** First sentence of the doc comment. */
  doc: string
}

type Fields = Map<string, OptionField>

/** Finds the text of the declaration of a type. */
export type Declarations = ReadonlyMap<string, string>

/** The interfaces and types that sources declare, by name: what comes first counts. */
export function declarations(sources: readonly string[]): Map<string, string> {
  const found = new Map<string, string>()
  for (const source of sources) {
    for (const match of source.matchAll(
      /^(?:export )?(?:interface|type) (\w+)[\s\S]*?(?:^\}$|^>$|\n(?=\n))/gm,
    )) {
      const [text, name = ''] = match
      if (!found.has(name)) found.set(name, text)
    }
  }
  return found
}

/** The fields that an object of this type may have, those it inherits included. */
export function fieldsOf(expression: string, types: Declarations): Fields {
  const parts = split(expression, '&')
  if (parts.length > 1) return merged(parts.map((part) => fieldsOf(part, types)))
  const { name, args } = applied(expression)
  const [first = '', second = ''] = args
  if (name === 'Partial' || name === 'Readonly') return fieldsOf(first, types)
  if (name === 'Record') return asFields(keysOf(first, types))
  if (name === 'Omit' || name === 'Pick') {
    const keys = new Set(keysOf(second, types))
    const isKept = (key: string) => keys.has(key) === (name === 'Pick')
    return new Map([...fieldsOf(first, types)].filter(([key]) => isKept(key)))
  }
  const declaration = types.get(name)
  if (declaration === undefined) throw new Error(`there is no type ${expression}`)
  return declared(declaration, types)
}

function declared(text: string, types: Declarations): Fields {
  const alias = /^(?:export )?type \w+(?:<[^=]*>)? =([\s\S]*)$/.exec(text)?.[1]
  const head = alias ?? text.slice(0, text.search(/\{$/m))
  const open = head.search(/\{$/m)
  const above = (open < 0 ? head : head.slice(0, open)).replace(/&\s*$/, '').trim()
  const bases =
    alias === undefined ? split(/\bextends ((?:[^=]|=>)*)$/.exec(above)?.[1] ?? '', ',') : [above]
  return merged([
    ...bases.filter((base) => base !== '').map((base) => fieldsOf(base, types)),
    ownFields(text),
  ])
}

/** The fields between the braces of a declaration, and as `a.b` those of objects described there. */
function ownFields(text: string): Fields {
  const fields: Fields = new Map()
  let comment = ''
  let outer = ''
  for (const line of text.split('\n')) {
    const [, indent = '', name, optional = ''] =
      /^( {2}| {4}| {8})(?:readonly )?(\w+)(\??)[:(]/.exec(line) ?? []
    if (/^\s*(\/\*)?\*/.test(line)) comment += `${line}\n`
    else if (name !== undefined && (indent.length === 2 || outer !== '')) {
      const path = indent.length === 2 ? name : `${outer}.${name}`
      const byDefault = /@default ((?:.|\n\s*\* +(?!@))*)/.exec(comment)?.[1]
      fields.set(path, {
        name: path,
        isRequired: optional === '',
        byDefault: byDefault?.replace(/\s*\*\/\s*$/, '').replaceAll(/\s*\n\s*\* +/g, ' '),
        doc: firstSentence(comment),
      })
      if (indent.length === 2) outer = /[{:]$/.test(line) ? name : ''
      comment = ''
    } else comment = ''
  }
  return fields
}

function firstSentence(comment: string): string {
  const [text = ''] = comment.replaceAll(/^\s*\/?\*+\/?|\*\/\s*$/gm, '').split(/^\s*@/m)
  return /^.*?(?=\.(?:\s|$)|$)/.exec(text.replaceAll(/\s+/g, ' ').trim())?.[0] ?? ''
}

function keysOf(expression: string, types: Declarations): string[] {
  const quoted = [...expression.matchAll(/'(\w+)'/g)].map(([, key = '']) => key)
  if (quoted.length > 0) return quoted
  const declaration = types.get(expression.trim())
  return declaration === undefined ? [] : keysOf(declaration, types)
}

function asFields(keys: readonly string[]): Fields {
  return new Map(
    keys.map((name) => [name, { name, isRequired: false, byDefault: undefined, doc: '' }]),
  )
}

function merged(all: readonly Fields[]): Fields {
  return new Map(all.flatMap((fields) => [...fields]))
}

function applied(expression: string): { name: string; args: string[] } {
  const [, name = '', args] = /^\s*(\w+)(?:<([\s\S]*)>)?\s*$/.exec(expression) ?? []
  return { name, args: args === undefined ? [] : split(args, ',') }
}

/** Cuts a text at each separator that is in no bracket, quote or code span. */
export function split(text: string, separator: string): string[] {
  const parts = ['']
  let depth = 0
  let quote = ''
  for (const char of text) {
    if (quote !== '') quote = char === quote ? '' : quote
    else if ("'`".includes(char) && isOpening(char, parts.at(-1) ?? '')) quote = char
    else if ('[{(<'.includes(char)) depth++
    else if (']})>'.includes(char)) depth--
    if (char === separator && depth === 0 && quote === '') parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '')
}

/** An apostrophe after a letter is none that opens a text. */
function isOpening(char: string, before: string): boolean {
  return char === '`' || !/\w$/.test(before)
}
