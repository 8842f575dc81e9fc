import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { type Expression, type Node, type Pattern, type Program, parse, type SpreadElement } from 'acorn'
import { full } from 'acorn-walk'

/** A regular expression of the sources. */
export interface FoundExpression {
  /** `path:line`. */
  readonly at: string
  readonly source: string
  readonly flags: string
}

export interface Found {
  readonly expressions: readonly FoundExpression[]
  /** Where an expression is built from values of a running server. */
  readonly built: readonly string[]
}

/** What is known of names before anything runs: text, or an expression. */
type Constant = string | { readonly source: string; readonly flags: string }

/** ajv compiles `pattern` with this flag. */
const schemaFlags = 'u'

/** Reads every regular expression of a module: literals, `RegExp(…)`, and `pattern` of schemas of text. */
export const expressionsIn = (code: string, path: string): Found => {
  const tree = parse(path.endsWith('.ts') ? stripTypeScriptTypes(code) : code, {
    ...{ ecmaVersion: 'latest', sourceType: 'module', locations: true, allowHashBang: true },
  })
  const constants = constantsOf(tree)
  const expressions: FoundExpression[] = []
  const built: string[] = []
  const at = ({ loc }: Node): string => `${path}:${loc?.start.line}`
  const add = (node: Node, source: Constant | undefined, flags: Constant | undefined): void => {
    if (source === undefined || typeof flags !== 'string') built.push(at(node))
    else if (typeof source === 'string') expressions.push({ at: at(node), source, flags })
    else expressions.push({ at: at(node), ...source })
  }
  full(tree, node => {
    const each = node as Expression
    if (each.type === 'Literal' && each.regex) add(node, each.regex.pattern, each.regex.flags)
    if (each.type !== 'NewExpression' && each.type !== 'CallExpression') return
    const [first, second] = each.arguments
    if (nameOf(each.callee) === 'RegExp') add(node, constantIn(first, constants), second ? constantIn(second, constants) : '')
    const pattern = nameOf(each.callee) === 'String' ? propertyOf(each.arguments, 'pattern') : undefined
    if (pattern) add(pattern, constantIn(pattern, constants), schemaFlags)
  })
  return { expressions, built }
}

/** Of a file; the path is relative to the root. */
export const expressionsOf = async (root: string, path: string): Promise<Found> =>
  expressionsIn(await readFile(join(root, path), 'utf8'), path)

/** The last name of `a.b.c`. */
const nameOf = (node: Node): string | undefined => {
  const each = node as Expression
  if (each.type === 'Identifier') return each.name
  return each.type === 'MemberExpression' && each.property.type === 'Identifier' ? each.property.name : undefined
}

const propertyOf = (given: readonly (Expression | SpreadElement)[], name: string): Node | undefined => {
  for (const each of given) {
    if (each.type !== 'ObjectExpression') continue
    for (const property of each.properties) if (property.type === 'Property' && nameOf(property.key) === name) return property.value
  }
  return undefined
}

/** What `const` says of names, wherever it stands; of one that is said twice, nothing is known. */
const constantsOf = (tree: Program): ReadonlyMap<string, Constant> => {
  const found = new Map<string, Constant>()
  const seen = new Set<string>()
  full(tree, node => {
    const { type, id, init } = node as { readonly type: string; readonly id?: Pattern; readonly init?: Expression }
    if (type !== 'VariableDeclarator' || id?.type !== 'Identifier' || !init) return
    const value = seen.has(id.name) ? undefined : constantIn(init, found)
    seen.add(id.name)
    if (value === undefined) found.delete(id.name)
    else found.set(id.name, value)
  })
  return found
}

const constantIn = (node: Node | undefined, constants: ReadonlyMap<string, Constant>): Constant | undefined => {
  const each = node as Expression | undefined
  switch (each?.type) {
    case 'Literal':
      if (each.regex) return { source: each.regex.pattern, flags: each.regex.flags }
      return typeof each.value === 'string' ? each.value : undefined
    case 'Identifier':
      return constants.get(each.name)
    case 'TemplateLiteral':
      return each.expressions.length === 0 ? (each.quasis[0]?.value.cooked ?? undefined) : undefined
    case 'MemberExpression': {
      const owner = constantIn(each.object, constants)
      return typeof owner === 'object' && nameOf(each) === 'source' ? owner.source : undefined
    }
    default:
      return undefined
  }
}
