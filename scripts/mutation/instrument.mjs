import ts from 'typescript-api'

/** Operators, and those that replace them. */
const swaps = {
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
}

/**
 * Puts every mutant of a file into its text, each behind `isActiveMutant(id)`, which is true for the active one.
 * `firstId` is the id of the first mutant.
 */
export function instrument(text, firstId) {
  const source = ts.createSourceFile('source.ts', text, ts.ScriptTarget.Latest, true)
  const mutants = []
  const names = new Map()
  const code = `const isActiveMutant = globalThis.isActiveMutant;${render(source)}`
  return { code, mutants }

  /** Returns a node's text, with the mutants of its children and its own. */
  function render(node) {
    let rendered = ''
    let at = node.getStart()
    ts.forEachChild(node, (child) => {
      if (ts.isTypeNode(child)) return
      rendered += text.slice(at, child.getStart()) + render(child)
      at = child.end
    })
    rendered += text.slice(at, node.end)
    // Only one mutant is active, so the replacement itself needs none.
    for (const replacement of replacementsOf(node)) {
      const active = `isActiveMutant(${add(node, replacement)})`
      rendered = ts.isStatement(node)
        ? `{if (!${active}) {${rendered}}}`
        : `(${active} ? ${replacement} : ${rendered})`
    }
    // Each turn of a loop asks, so that one without end can be told.
    return isBodyOfLoop(node) ? `{isActiveMutant(-1); ${rendered}}` : rendered
  }

  function add(node, replacement) {
    const what = `${placeOf(node)}${oneLine(node.getText())} -> ${oneLine(replacement)}`
    const count = (names.get(what) ?? 0) + 1
    names.set(what, count)
    const id = firstId + mutants.length
    const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1
    mutants.push({ id, line, name: count === 1 ? what : `${what} (${count})` })
    return id
  }
}

/** Every text that breaks a node; the empty one leaves out a statement. */
function replacementsOf(node) {
  if (isCondition(node))
    return [...(isLoop(node.parent) ? [] : ['true']), 'false', ...nearMiss(node)]
  if (ts.isBinaryExpression(node)) {
    const { left, operatorToken, right } = node
    if (operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken)
      return [left.getText(), right.getText()]
    return operatorToken.getText() in swaps ? [swapped(node)] : []
  }
  if (isNegation(node)) return [node.operand.getText()]
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false']
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true']
  const isLeftOut =
    ts.isThrowStatement(node) || (ts.isExpressionStatement(node) && !isSuperCall(node.expression))
  return isLeftOut ? [''] : []
}

/** What breaks a condition besides `true` and `false`. The opposite is not among it: they cover it. */
function nearMiss(node) {
  if (!ts.isBinaryExpression(node)) return []
  const sign = node.operatorToken.getText()
  return ['&&', '||', '<', '<=', '>', '>='].includes(sign) ? [swapped(node)] : []
}

function swapped({ left, operatorToken, right }) {
  return `(${left.getText()}) ${swaps[operatorToken.getText()]} (${right.getText()})`
}

/** Names of the declarations around a node. */
function placeOf(node) {
  let names = ''
  for (let { parent } = node; parent !== undefined; parent = parent.parent) {
    const isNamed = (ts.isFunctionLike(parent) || ts.isClassLike(parent)) && parent.name
    if (ts.isConstructorDeclaration(parent)) names = `constructor: ${names}`
    else if (isNamed) names = `${parent.name.getText()}: ${names}`
  }
  return names
}

function isCondition(node) {
  const { parent } = node
  if (parent === undefined) return false
  if (ts.isConditionalExpression(parent) || ts.isForStatement(parent))
    return parent.condition === node
  return (ts.isIfStatement(parent) || isLoop(parent)) && parent.expression === node
}

/** A loop that cannot end says nothing. */
function isLoop(node) {
  return ts.isWhileStatement(node) || ts.isDoStatement(node) || ts.isForStatement(node)
}

function isBodyOfLoop(node) {
  const { parent } = node
  if (parent?.statement !== node) return false
  return isLoop(parent) || ts.isForOfStatement(parent) || ts.isForInStatement(parent)
}

function isNegation(node) {
  return ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken
}

function isSuperCall(node) {
  return ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword
}

function oneLine(text) {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 90 ? `${line.slice(0, 89)}…` : line || 'nothing'
}
