import type { s } from 'pounce/sdk'
import { StartupError } from '../startup-error.ts'

/** The JSON Schema keywords that the configuration uses. */
export interface Node {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Node>>
  readonly patternProperties?: Readonly<Record<string, Node>>
  readonly additionalProperties?: boolean | Node
  readonly required?: readonly string[]
  readonly items?: Node
  readonly anyOf?: readonly Node[]
  readonly const?: unknown
  readonly default?: unknown
  readonly secret?: boolean
  /** The previous name of the setting; still accepted. */
  readonly formerName?: string
  readonly description?: string
}

/** A TypeBox schema as a node. */
export const nodeOf = (schema: s.TSchema | undefined): Node => (schema ?? { type: 'object' }) as Node

/** Settings as read from a file: a tree of plain objects. */
export type Settings = { readonly [key: string]: unknown }

/** The location of a schema in the configuration: the kernel's at the top level, a plugin's under its dotted name. */
export interface Part {
  readonly name: string
  readonly path: readonly string[]
  readonly schema: Node
}

/** True of an object that is neither null nor an array. */
export const isSettings = (value: unknown): value is Settings => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schema of the values of a record (an object with arbitrary keys), if the node is one. */
export const recordOf = (node: Node): Node | undefined =>
  typeof node.additionalProperties === 'object' ? node.additionalProperties : Object.values(node.patternProperties ?? {})[0]

const insert = (node: Node, part: Part, depth: number): Node => {
  const segment = part.path[depth]
  if (segment === undefined) {
    const taken = Object.keys(part.schema.properties ?? {}).find(key => node.properties?.[key])
    if (taken !== undefined) throw new StartupError(`${part.name}: its setting ${taken} conflicts with another setting of the same name`)
    return { ...part.schema, properties: { ...node.properties, ...part.schema.properties } }
  }
  const below = node.properties?.[segment] ?? { type: 'object', properties: {} }
  if (below.type !== 'object') throw new StartupError(`${part.name}: ${part.path.slice(0, depth + 1).join('.')} is a setting already`)
  return { ...node, properties: { ...node.properties, [segment]: insert(below, part, depth + 1) } }
}

/** Merges all parts into one schema. */
export const mergeParts = (parts: readonly Part[]): Node =>
  parts.reduce<Node>((whole, part) => insert(whole, part, 0), { type: 'object', properties: {} })

/** Dotted names of all settings, including branches. */
export const settingNames = (node: Node, path: readonly string[] = []): string[] =>
  Object.entries(node.properties ?? {}).flatMap(([key, below]) => {
    const here = [...path, key]
    return [here.join('.'), ...settingNames(below, here)]
  })

/** Dotted names that no schema declares. Descends into records and lists of objects, not into alternatives. */
export const unknownNames = (value: unknown, node: Node, path: readonly string[] = []): string[] => {
  if (Array.isArray(value)) return value.flatMap((item, at) => (node.items ? unknownNames(item, node.items, [...path, `${at}`]) : []))
  if (!isSettings(value) || (!node.properties && node.type !== 'object')) return []
  const record = recordOf(node)
  return Object.entries(value).flatMap(([key, item]) => {
    const below = Object.hasOwn(node.properties ?? {}, key) ? node.properties?.[key] : record
    if (below) return unknownNames(item, below, [...path, key])
    return node.properties ? [[...path, key].join('.')] : []
  })
}

/** A part's own settings with defaults, including those of each item of a list or record. Members of other parts are omitted. */
export const withDefaults = (value: unknown, node: Node): unknown => {
  const given = value === undefined ? structuredClone(node.default) : value
  const { items } = node
  if (items && Array.isArray(given)) return given.map(item => withDefaults(item, items))
  if (!isSettings(given)) return given
  const record = recordOf(node)
  if (!node.properties && record) return Object.fromEntries(Object.entries(given).map(([key, item]) => [key, withDefaults(item, record)]))
  if (!node.properties) return given
  const filled: Record<string, unknown> = {}
  for (const [key, below] of Object.entries(node.properties)) {
    const item = withDefaults(given[key], below)
    if (item !== undefined) filled[key] = item
  }
  return filled
}

/** True if a required member is still missing with the defaults applied, so that full validation is needed for the message. */
export const lacksRequired = (value: unknown, node: Node): boolean =>
  isSettings(value)
    ? (node.required ?? []).some(key => value[key] === undefined) ||
      Object.entries(node.properties ?? {}).some(([key, below]) => value[key] !== undefined && lacksRequired(value[key], below))
    : false

const masked = '********'

/** The same settings with secrets masked, also passwords in URLs. */
export const maskSecrets = (value: unknown, node: Node): unknown => {
  if (node.secret) return value === undefined || value === '' ? value : masked
  if (Array.isArray(value)) return node.items ? value.map(item => maskSecrets(item, node.items as Node)) : value
  if (!isSettings(value)) return typeof value === 'string' ? value.replace(/(:\/\/[^\s/?#:@]*:)[^\s/?#]*@/g, `$1${masked}@`) : value
  const record = recordOf(node)
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const below = node.properties?.[key] ?? record
      return [key, below ? maskSecrets(item, below) : item]
    }),
  )
}

/** The value at a path. */
export const at = (settings: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (isSettings(value) || Array.isArray(value) ? (value as Settings)[key] : undefined), settings)

/** The same settings with one value set. */
export const put = (settings: Settings, path: readonly string[], value: unknown): Settings => {
  const [key, ...rest] = path
  if (key === undefined) return isSettings(value) ? value : settings
  const below = settings[key]
  return { ...settings, [key]: rest.length === 0 ? value : put(isSettings(below) ? below : {}, rest, value) }
}

/** Merges two layers: objects are merged, other values of the upper layer replace those below. */
export const overlay = (below: unknown, above: unknown): unknown => {
  if (above === undefined) return below
  if (!isSettings(below) || !isSettings(above)) return above
  const merged: Record<string, unknown> = { ...below }
  for (const [key, value] of Object.entries(above)) merged[key] = overlay(below[key], value)
  return merged
}

/** The same schema with the former names of renamed settings added. */
export const withFormerNames = (node: Node): Node => {
  if (!node.properties) return node
  const present = Object.entries(node.properties).map(([key, below]) => [key, withFormerNames(below)] as const)
  const former = present.flatMap(([, below]) => (below.formerName === undefined ? [] : [[below.formerName, below] as const]))
  return { ...node, properties: Object.fromEntries([...present, ...former]) }
}

/** The same settings under their current names. Throws `StartupError`, which names `source`, if one is set under both names. */
export const toPresentNames = (settings: Settings, node: Node, source: string, path: readonly string[] = []): Settings => {
  const present: Record<string, unknown> = { ...settings }
  for (const [key, below] of Object.entries(node.properties ?? {})) {
    const { formerName } = below
    if (formerName !== undefined && Object.hasOwn(present, formerName)) {
      const [now, before] = [key, formerName].map(name => [...path, name].join('.'))
      if (Object.hasOwn(present, key)) throw new StartupError(`${source} sets both ${now} and its former name ${before}: keep only ${now}`)
      present[key] = present[formerName]
      delete present[formerName]
    }
    if (isSettings(present[key])) present[key] = toPresentNames(present[key], below, source, [...path, key])
  }
  return present
}
