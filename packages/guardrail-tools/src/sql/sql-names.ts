/** Database whose language a statement is in. `mysql` is MySQL and MariaDB. */
export type SqlDialect = 'postgresql' | 'mysql' | 'sqlite'

/** Names that a statement uses, as the database reads them. */
export interface SqlNames {
  /** Tables and views, with their schema where the statement states it. */
  readonly tables: readonly string[]
  /** Columns without their table; `*` for all columns. */
  readonly columns: readonly string[]
  /** Functions, with their schema where the statement states it. */
  readonly functions: readonly string[]
}

/** Reads the syntax tree of a parser, or throws for everything that is not one plain `SELECT`. */
export type SqlReader = (tree: unknown) => SqlNames

/** Names of common table expressions that a reference can mean. */
export type SqlScope = ReadonlySet<string>

/** Collects names while a tree is read. */
export class NameCollector implements SqlNames {
  readonly tables: string[] = []
  readonly columns: string[] = []
  readonly functions: string[] = []
}

/** Throws: a tree has a part that is not on the list. */
export function refuse(part: string): never {
  throw new TypeError(`${part} is not allowed`)
}
