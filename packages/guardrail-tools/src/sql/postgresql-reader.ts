import type { SqlNames, SqlScope } from './sql-names.ts'
import { NameCollector, refuse } from './sql-names.ts'

type Node = Readonly<Record<string, unknown>>

/** Reads a tree of PostgreSQL's own parser, such as that of `libpg-query`. */
export function readPostgresql(tree: unknown): SqlNames {
  const { stmts } = tree as { stmts: readonly { stmt: Node }[] }
  if (stmts.length !== 1) refuse('more than one statement')
  const { SelectStmt, ...rest } = stmts[0]!.stmt
  if (SelectStmt === undefined || Object.keys(rest).length > 0) refuse('the statement')
  const names = new NameCollector()
  const reader = new TreeReader(names)
  reader.select(SelectStmt as Node, new Set())
  reader.end()
  return names
}

/**
 * Fields of the nodes that may occur. A field is a tree, a value that means nothing here (`-`), or a node
 * without its name around it. Nodes and fields that are not here are refused.
 */
const fields: Readonly<Record<string, Readonly<Record<string, string>>>> = readFields(`
  List items
  RangeVar relname:- schemaname:- catalogname:- inh:- relpersistence:- alias:-
  ResTarget val name:-
  RangeSubselect subquery lateral:- alias:-
  JoinExpr larg rarg quals jointype:- alias:- rtindex:-
  A_Const ival:- fval:- boolval:- sval:- bsval:- isnull:-
  ParamRef number:-
  A_Indices lidx uidx is_slice:-
  A_Expr lexpr rexpr kind:- rexpr_list_start:- rexpr_list_end:-
  BoolExpr args boolop:-
  NullTest arg nulltesttype:- argisrow:-
  BooleanTest arg booltesttype:-
  SubLink testexpr subselect subLinkType:-
  CaseExpr arg args defresult
  CaseWhen expr result
  CoalesceExpr args
  MinMaxExpr args op:-
  RowExpr args row_format:-
  A_ArrayExpr elements list_start:- list_end:-
  TypeCast arg typeName:TypeName
  TypeName typmods typemod:- arrayBounds:-
  CollateClause arg collname:-
  FuncCall args agg_order agg_filter over:WindowDef agg_within_group:- agg_star:- agg_distinct:- func_variadic:- funcformat:-
  SortBy node sortby_dir:- sortby_nulls:-
  WindowDef partitionClause orderClause startOffset endOffset name:- refname:- frameOptions:-
  GroupingSet content kind:-
  GroupingFunc args
  SelectStmt targetList fromClause whereClause groupClause havingClause windowClause valuesLists sortClause limitOffset limitCount distinctClause larg:SelectStmt rarg:SelectStmt groupDistinct:- limitOption:- op:- all:-
`)

function readFields(text: string): Record<string, Record<string, string>> {
  const lines = text.trim().split('\n')
  return Object.fromEntries(
    lines.map((line) => {
      const [type, ...names] = line.trim().split(' ')
      return [type, Object.fromEntries(names.map((name) => [...name.split(':'), '*'].slice(0, 2)))]
    }),
  ) as Record<string, Record<string, string>>
}

class TreeReader {
  readonly #names: NameCollector
  /** Names of tables in the statement. Read as a column, one is the whole row. */
  readonly #rows = new Set<unknown>()
  readonly #bare: string[] = []

  constructor(names: NameCollector) {
    this.#names = names
  }

  /** Notes whole rows, once all names of tables are known. */
  end(): void {
    if (this.#bare.some((name) => this.#rows.has(name))) this.#names.columns.push('*')
  }

  select(node: Node, outer: SqlScope): void {
    const { withClause, sortClause, ...rest } = node
    const scope = withClause === undefined ? outer : this.#with(withClause as Node, outer)
    // A bare name in `order by` is that of an output column first.
    const outputs = new Set(
      list(node['targetList']).map((target) => inner(target, 'ResTarget')?.['name']),
    )
    const sorted = list(sortClause).filter((sort) => {
      const column = inner(inner(sort, 'SortBy')?.['node'], 'ColumnRef')
      const name = column && bareName(column)
      return name === undefined || !outputs.has(name)
    })
    this.#fields('SelectStmt', { ...rest, sortClause: sorted }, scope)
  }

  /** Reads common table expressions: one sees those before it, and itself where it is recursive. */
  #with({ ctes, recursive }: Node, outer: SqlScope): SqlScope {
    const scope = new Set(outer)
    for (const wrapped of list(ctes)) {
      const { ctename, ctequery, search_clause, cycle_clause } = inner(wrapped, 'CommonTableExpr')!
      if (search_clause !== undefined || cycle_clause !== undefined) refuse('search or cycle')
      if (recursive === true) scope.add(ctename as string)
      const query = inner(ctequery, 'SelectStmt') ?? refuse('a statement that writes')
      this.select(query, scope)
      scope.add(ctename as string)
    }
    return scope
  }

  #tree(value: unknown, scope: SqlScope): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#tree(item, scope)
      return
    }
    for (const [type, node] of Object.entries(value as Node)) this.#node(type, node as Node, scope)
  }

  #node(type: string, node: Node, scope: SqlScope): void {
    const names = this.#names
    switch (type) {
      case 'SelectStmt':
        this.select(node, scope)
        return
      case 'RangeVar': {
        const { relname, schemaname, catalogname } = node as Readonly<Record<string, string>>
        const schema = [catalogname, schemaname].filter((part) => part !== undefined)
        if (schema.length > 0 || !scope.has(relname!)) {
          names.tables.push([...schema, relname].join('.'))
        }
        this.#rows.add(relname)
        this.#alias(node)
        this.#fields(type, node, scope)
        return
      }
      case 'RangeSubselect':
        this.#rows.add((node['alias'] as Node | undefined)?.['aliasname'])
        this.#fields(type, node, scope)
        return
      case 'ColumnRef': {
        const name = bareName(node)
        if (name !== undefined) this.#bare.push(name)
        this.#lastOf(node['fields'])
        return
      }
      case 'A_Indirection':
        this.#tree(node['arg'], scope)
        for (const step of list(node['indirection'])) {
          const indices = inner(step, 'A_Indices')
          if (indices === undefined) this.#lastOf([step])
          else this.#fields('A_Indices', indices, scope)
        }
        return
      case 'JoinExpr': {
        const { isNatural, usingClause, ...rest } = node
        if (isNatural === true) names.columns.push('*')
        this.#alias(node)
        for (const column of list(usingClause)) this.#lastOf([column])
        this.#fields(type, rest, scope)
        return
      }
      case 'A_Expr':
      case 'SubLink': {
        const { name, operName, ...rest } = node
        const sign = list(name ?? operName)
        if (sign.length > 1 || (sign.length === 1 && !operators.has(textOf(sign[0])))) {
          refuse('the operator')
        }
        this.#fields(type, rest, scope)
        return
      }
      case 'TypeName': {
        const { names: path, ...rest } = node
        const [first, second, third] = list(path).map(textOf)
        const name = first === 'pg_catalog' ? second : first
        const isPlain = third === undefined && (first === 'pg_catalog') === (second !== undefined)
        if (!isPlain || !types.has(name ?? '')) refuse('the type')
        this.#fields(type, rest, scope)
        return
      }
      case 'FuncCall': {
        const { funcname, ...rest } = node
        const path = list(funcname).map(textOf)
        names.functions.push(path.join('.').replace(/^pg_catalog\./, ''))
        this.#fields(type, rest, scope)
        return
      }
      case 'SQLValueFunction':
        if (!/^SVFOP_(?:CURRENT|LOCAL)_?(?:DATE|TIME)/.test(String(node['op']))) {
          refuse('a value of the session')
        }
        return
      case 'Integer':
        return
      default:
        this.#fields(type, node, scope)
    }
  }

  /** Reads the fields of a node, none of which may be unknown. */
  #fields(type: string, node: Node, scope: SqlScope): void {
    const known = Object.hasOwn(fields, type) ? fields[type]! : refuse(type)
    for (const [name, value] of Object.entries(node)) {
      if (name === 'location') continue
      const kind = Object.hasOwn(known, name) ? known[name] : refuse(`${type}.${name}`)
      if (kind === '*') this.#tree(value, scope)
      else if (kind !== '-') this.#node(kind!, value as Node, scope)
    }
  }

  /** Reads the alias of tables. One with a list of names gives their columns other names. */
  #alias({ alias }: Node): void {
    const { aliasname, colnames } = (alias ?? {}) as Node
    this.#rows.add(aliasname)
    if (colnames !== undefined) this.#names.columns.push('*')
  }

  /** Notes the last of some names, which is that of a column. */
  #lastOf(path: unknown): void {
    const last = list(path).at(-1)
    this.#names.columns.push(inner(last, 'A_Star') === undefined ? textOf(last) : '*')
  }
}

function list(value: unknown): readonly Node[] {
  return (value ?? []) as readonly Node[]
}

function inner(value: unknown, type: string): Node | undefined {
  return (value as Node | undefined)?.[type] as Node | undefined
}

function textOf(value: unknown): string {
  const text = inner(value, 'String')?.['sval']
  return typeof text === 'string' ? text : refuse('a name')
}

function bareName(column: Node): string | undefined {
  const path = list(column['fields'])
  return path.length === 1 && inner(path[0], 'A_Star') === undefined ? textOf(path[0]) : undefined
}

const operators = new Set(
  `= <> != < > <= >= + - * / % ^ | & # ~ << >> || ~~ !~~ ~~* !~~* ~ ~* !~ !~*
   -> ->> #> #>> @> <@ ? ?| ?& && -|- BETWEEN SIMILAR`.split(/\s+/),
)

/** Types to which a value may be cast. Those of names of the catalog (`regclass`) read it. */
const types = new Set(
  `bool int2 int4 int8 float4 float8 numeric text varchar bpchar date time timetz timestamp timestamptz
   interval uuid json jsonb bytea bit varbit`.split(/\s+/),
)
