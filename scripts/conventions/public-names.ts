import { dirname, join } from 'node:path'
import ts from 'typescript-api'
import type { Tree } from './tree.ts'

/** A name that a package exports, or a member of one of its public types such as `RetryOptions.maxRetries`. */
export interface PublicName {
  /** Folder of the package that declares it, such as `middleware-retry`. */
  readonly owner: string
  readonly name: string
  /** Text of its doc comment, its own or the one of the member that it implements. */
  readonly doc: string
  readonly hasExample: boolean
}

interface Entry {
  readonly owner: string
  readonly path: string
}

const root = '/'

/**
 * Lists all public names of all packages: exported names, and the public members of every interface,
 * class and object type that is exported, or that an exported one extends or consists of.
 */
export function publicNames(tree: Tree): PublicName[] {
  const entries = entriesOf(tree)
  const program = programOf(tree, entries)
  const reader = new Reader(program.getTypeChecker())
  for (const { path } of entries) {
    const source = program.getSourceFile(root + path)
    if (source !== undefined) reader.readModule(source)
  }
  return [...reader.names.values()]
}

/** Reads a package's sources with the packages that it imports, and nothing else: no library, no SDK. */
function programOf(tree: Tree, entries: readonly Entry[]): ts.Program {
  const options: ts.CompilerOptions = {
    noLib: true,
    types: [],
    allowImportingTsExtensions: true,
    noEmit: true,
    target: ts.ScriptTarget.ESNext,
    module: ts.ModuleKind.ESNext,
  }
  const read = (file: string): string | undefined => tree.get(file.slice(root.length))
  const specifiers = new Map(
    packageEntries(tree).map(({ specifier, path }) => [specifier, path] as const),
  )
  return ts.createProgram({
    rootNames: entries.map(({ path }) => root + path),
    options,
    host: {
      fileExists: (file) => read(file) !== undefined,
      readFile: read,
      getSourceFile: (file, target) => {
        const text = read(file)
        return text === undefined ? undefined : ts.createSourceFile(file, text, target, true)
      },
      resolveModuleNameLiterals: (literals, importer) =>
        literals.map(({ text }) => {
          const path = text.startsWith('.')
            ? join(dirname(importer), text)
            : `${root}${specifiers.get(text)}`
          const isKnown = read(path) !== undefined
          return {
            resolvedModule: isKnown ? { resolvedFileName: path, extension: '.ts' } : undefined,
          }
        }),
      getDefaultLibFileName: () => '',
      getCurrentDirectory: () => root,
      getCanonicalFileName: (file) => file,
      useCaseSensitiveFileNames: () => true,
      getNewLine: () => '\n',
      writeFile: () => {},
    },
  })
}

class Reader {
  readonly names = new Map<string, PublicName>()
  readonly #seen = new Set<ts.Declaration>()
  readonly #checker: ts.TypeChecker

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker
  }

  readModule(source: ts.SourceFile): void {
    const owner = ownerOf(source)
    const module = this.#checker.getSymbolAtLocation(source)
    if (module === undefined) return
    for (const exported of this.#checker.getExportsOfModule(module)) {
      const symbol = this.#resolved(exported)
      const own = (symbol.declarations ?? []).filter((node) => ownerOf(node) === owner)
      if (own.length === 0) continue
      this.#add(owner, symbol.name, symbol)
      for (const declaration of own) this.#readDeclaration(declaration, symbol.name)
    }
  }

  #readDeclaration(declaration: ts.Declaration, name: string): void {
    if (this.#seen.has(declaration)) return
    this.#seen.add(declaration)
    this.#readTypes(declaration, ownerOf(declaration), name, isTypeDeclaration(declaration))
  }

  /** Reads the members below a node, and if `follows` the types of the same package that it is made of. */
  #readTypes(node: ts.Node, owner: string, path: string, follows: boolean): void {
    ts.forEachChild(node, (child) => {
      if (isHidden(child) || isNoMember(child)) return
      if (follows && (ts.isTypeReferenceNode(child) || ts.isExpressionWithTypeArguments(child))) {
        this.#follow(ts.isTypeReferenceNode(child) ? child.typeName : child.expression, owner)
      }
      const member = isMember(child) ? child.name : undefined
      const symbol = member && this.#checker.getSymbolAtLocation(member)
      if (member === undefined || symbol === undefined || ts.isComputedPropertyName(member)) {
        this.#readTypes(child, owner, path, follows)
      } else {
        const name = `${path}.${symbol.name}`
        this.#add(owner, name, symbol)
        this.#readTypes(child, owner, name, false)
      }
    })
  }

  #follow(reference: ts.Node, owner: string): void {
    const found = this.#checker.getSymbolAtLocation(reference)
    for (const declaration of (found && this.#resolved(found).declarations) ?? []) {
      if (isTypeDeclaration(declaration) && ownerOf(declaration) === owner) {
        this.#readDeclaration(declaration, declaration.name?.text ?? '')
      }
    }
  }

  #add(owner: string, name: string, symbol: ts.Symbol): void {
    const key = `${owner} ${name}`
    const known = this.names.get(key)
    const doc = ts.displayPartsToString(symbol.getDocumentationComment(this.#checker))
    const hasExample = symbol.getJsDocTags(this.#checker).some((tag) => tag.name === 'example')
    this.names.set(key, {
      owner,
      name,
      doc: known?.doc || doc,
      hasExample: hasExample || known?.hasExample === true,
    })
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
  }
}

function isTypeDeclaration(
  node: ts.Node,
): node is ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.ClassDeclaration {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isClassDeclaration(node)
  )
}

type Member =
  | ts.PropertySignature
  | ts.MethodSignature
  | ts.PropertyDeclaration
  | ts.MethodDeclaration
  | ts.AccessorDeclaration

function isMember(node: ts.Node): node is Member {
  return (
    ts.isPropertySignature(node) ||
    ts.isMethodSignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isAccessor(node)
  )
}

const hiding = ts.ModifierFlags.Private | ts.ModifierFlags.Protected | ts.ModifierFlags.Override

/** Tells whether a node is private, overrides one that has the doc comment, or says all by its literal type. */
function isHidden(node: ts.Node): boolean {
  if ('type' in node && (node.type as ts.Node | undefined)?.kind === ts.SyntaxKind.LiteralType) {
    return true
  }
  if (isMember(node) && ts.isPrivateIdentifier(node.name)) return true
  const flags = ts.canHaveModifiers(node) ? ts.getCombinedModifierFlags(node as ts.Declaration) : 0
  const isInternal = ts.getJSDocTags(node).some((tag) => tag.tagName.text === 'internal')
  return isInternal || (flags & hiding) !== 0
}

/** Tells whether a node holds no members: code, values, parameters, keys and conditions of types. */
function isNoMember(node: ts.Node): boolean {
  const { parent } = node
  return (
    ts.isBlock(node) ||
    ts.isParameter(node) ||
    ts.isTypeOperatorNode(node) ||
    ts.isIndexedAccessTypeNode(node) ||
    ('initializer' in parent && parent.initializer === node) ||
    (ts.isConditionalTypeNode(parent) && parent.extendsType === node)
  )
}

function ownerOf(node: ts.Node): string {
  return /^\/packages\/([^/]+)\//.exec(node.getSourceFile().fileName)?.[1] ?? ''
}

function entriesOf(tree: Tree): Entry[] {
  return packageEntries(tree).map(({ owner, path }) => ({ owner, path }))
}

function packageEntries(tree: Tree): (Entry & { specifier: string })[] {
  return [...tree].flatMap(([file, text]) => {
    const owner = /^packages\/([^/]+)\/package\.json$/.exec(file)?.[1]
    if (owner === undefined) return []
    const manifest: { name?: string; exports?: Record<string, { '@lamella/source'?: string }> } =
      JSON.parse(text)
    return Object.entries(manifest.exports ?? {}).flatMap(([entry, target]) => {
      const source = target['@lamella/source']
      if (source === undefined) return []
      const specifier = join(manifest.name ?? owner, entry)
      return [{ owner, path: join('packages', owner, source), specifier }]
    })
  })
}
