import type { SqlNames, SqlScope } from './sql-names.ts'
import { NameCollector, refuse } from './sql-names.ts'

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

/** Reads a tree of SQLite's own grammar, such as that of `parseStmt` of `sqlite3-parser`. */
export function readSqlite(tree: unknown): SqlNames {
  return read(tree, lower)
}

/** Reads the same tree of a statement for MySQL, which tells upper case in names of tables from lower. */
export function readMysql(tree: unknown): SqlNames {
  return read(tree, String)
}

function read(tree: unknown, tableName: (name: unknown) => string): SqlNames {
  const { status, root } = tree as { status?: unknown; root?: Node }
  if (status !== 'ok' || root?.type !== 'SelectStmt') refuse('the statement')
  const names = new NameCollector()
  new TreeReader(names, tableName).tree(root['body'], new Set())
  return names
}

/** Nodes that are read by their parts alone. Others are refused, but for those with a reading of their own. */
const plain = new Set(
  `Select SelectFrom SelectValues ValuesRow CompoundSelect FromClause JoinedSelectTable SelectSelectTable
   SubSelectTable CommaJoinOperator OnJoinConstraint ExprResultColumn SortedColumn Limit
   BetweenExpr BinaryExpr CaseExpr WhenThen CastExpr Type MaxSizeTypeSize TypeSizeTypeSize CollateExpr ExistsExpr
   InListExpr InSelectExpr IsNullExpr NotNullExpr ParenthesizedExpr SubqueryExpr UnaryExpr VariableExpr
   NumericLiteral StringLiteral BlobLiteral KeywordLiteral NullLiteral CurrentDateLiteral CurrentTimeLiteral
   CurrentTimestampLiteral FunctionTail SortListFunctionCallOrder WindowDef Window WindowOver NameOver FrameClause
   CurrentRowFrameBound FollowingFrameBound PrecedingFrameBound UnboundedFollowingFrameBound
   UnboundedPrecedingFrameBound AsAs ElidedAs NotIndexedIndexed Name`.split(/\s+/),
)

const naturalJoin = 4

class TreeReader {
  readonly #names: NameCollector
  readonly #tableName: (name: unknown) => string

  constructor(names: NameCollector, tableName: (name: unknown) => string) {
    this.#names = names
    this.#tableName = tableName
  }

  tree(value: unknown, scope: SqlScope): void {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return
    if (Array.isArray(value)) for (const item of value) this.tree(item, scope)
    else this.#node(value as Node, scope)
  }

  #node(node: Node, scope: SqlScope): void {
    const names = this.#names
    switch (node.type) {
      case 'Select':
        this.#select(node, scope)
        return
      case 'TableSelectTable':
        this.#table(node['tblName'] as Node, scope)
        return
      case 'InTableExpr':
        if (node['args'] !== undefined) refuse('a function as a table')
        this.tree(node['lhs'], scope)
        this.#table(node['rhs'] as Node, scope)
        return
      case 'Id':
        names.columns.push(lower(node['name']))
        return
      case 'NameExpr':
        names.columns.push(textOf(node['name']))
        return
      case 'QualifiedExpr':
        names.columns.push(textOf(node['column']))
        return
      case 'StarResultColumn':
      case 'TableStarResultColumn':
        names.columns.push('*')
        return
      case 'TypedJoinJoinOperator':
        if ((Number(node['joinType'] ?? 0) & naturalJoin) !== 0) names.columns.push('*')
        return
      case 'UsingJoinConstraint':
        for (const column of node['columns'] as readonly Node[]) names.columns.push(textOf(column))
        return
      case 'LikeExpr':
        // `match` is a function of whatever the column's table is.
        if (node['op'] !== 'Like' && node['op'] !== 'Glob') refuse('the operator')
        this.#parts(node, scope)
        return
      case 'FunctionCallExpr':
      case 'FunctionCallStarExpr':
        names.functions.push(lower((node['name'] as Node)['name']))
        this.#parts({ ...node, name: undefined }, scope)
        return
      default:
        if (!plain.has(node.type)) refuse(node.type)
        this.#parts(node, scope)
    }
  }

  #parts(node: Node, scope: SqlScope): void {
    for (const [key, part] of Object.entries(node)) if (key !== 'span') this.tree(part, scope)
  }

  #select(node: Node, outer: SqlScope): void {
    const { with: clause, select, orderBy, ...rest } = node
    const scope = clause === undefined ? outer : this.#with(clause as Node, outer)
    const { columns = [] } = select as { readonly columns?: readonly Node[] }
    const outputs = new Set(
      columns.map(({ alias }) => alias && textOf((alias as unknown as Node)['name'])),
    )
    // A bare name in `order by` is that of an output column first.
    const sorted = ((orderBy ?? []) as readonly Node[]).filter(({ expr }) => {
      const name = bareName(expr as Node)
      return name === undefined || !outputs.has(name)
    })
    this.tree(select, scope)
    this.tree(sorted, scope)
    this.#parts(rest, scope)
  }

  /** Reads common table expressions: one sees those before it, and itself where it is recursive. */
  #with({ ctes, recursive }: Node, outer: SqlScope): SqlScope {
    const scope = new Set(outer)
    for (const { tblName, select } of ctes as readonly Node[]) {
      const name = this.#tableName((tblName as Node)['text'])
      if (recursive === true) scope.add(name)
      this.tree(select, scope)
      scope.add(name)
    }
    return scope
  }

  #table({ dbName, objName }: Node, scope: SqlScope): void {
    const name = this.#tableName((objName as Node)['text'])
    const schema = dbName === undefined ? undefined : this.#tableName((dbName as Node)['text'])
    if (schema !== undefined) this.#names.tables.push(`${schema}.${name}`)
    else if (!scope.has(name)) this.#names.tables.push(name)
  }
}

/** SQLite compares names without the case of ASCII letters. */
function lower(name: unknown): string {
  return String(name).replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

function textOf(name: unknown): string {
  return lower((name as Node)['text'])
}

function bareName(expr: Node): string | undefined {
  if (expr.type === 'Id') return lower(expr['name'])
  return expr.type === 'NameExpr' ? textOf(expr['name']) : undefined
}
