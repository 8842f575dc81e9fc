import { type DeclaredRoute, fill, type Schema } from './declared-routes.ts'
import type { Ids } from './furnished.ts'
import { unknownId } from './scene.ts'

/** A request designed to be as expensive as a client can make it. */
export interface Hostile {
  readonly title: string
  readonly path: string
  /** Created lazily, because all bodies together would exhaust the memory. */
  init(): RequestInit
}

/** The length that fits into a request line. */
const queryChars = 10_000
const mib = 1024 * 1024

const pumped = (piece: string, chars: number): string => piece.repeat(Math.ceil(chars / piece.length)).slice(0, chars)

/** Strings that break naive patterns, parsers and lists. */
const texts: readonly (readonly [title: string, piece: string])[] = [
  ['blanks', ' '],
  ['globs', '*q*z OR '],
  ['parentheses', '('],
  ['numbers', '1,'],
  ['signs', '=a'],
]

const isText = ({ type, anyOf, enum: values, format }: Schema): boolean =>
  type === 'string' && values === undefined && anyOf === undefined && format === undefined

const sampleOf = (schema: Schema): unknown => {
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return sampleOf(schema.anyOf.at(-1) ?? {})
  if (schema.type === 'array') return [sampleOf(schema.items ?? {})]
  if (schema.type === 'object')
    return Object.fromEntries((schema.required ?? []).map(name => [name, sampleOf(schema.properties?.[name] ?? {})]))
  return schema.type === 'boolean' ? true : schema.type === 'string' ? 'some text' : 1
}

const addressOf = (route: DeclaredRoute, ids: Ids, query: Readonly<Record<string, string>> = {}): string => {
  // Resources must not be deleted, as later requests need them.
  const known: Ids = route.method === 'DELETE' ? {} : ids
  const path = fill(route.path, (kind, name) => known[kind] ?? known[name] ?? (route.ids.includes(name) ? unknownId : 'm'))
  const needed = route.query.filter(({ name, required }) => required && !(name in query))
  const all = new URLSearchParams([
    ...needed.map(({ name, schema }): [string, string] => [name, String(sampleOf(schema))]),
    ...Object.entries(query),
  ])
  return all.size > 0 ? `${path}?${all}` : path
}

const queriesOf = (route: DeclaredRoute, ids: Ids): readonly Hostile[] =>
  route.query
    .filter(({ schema }) => isText(schema))
    .flatMap(({ name, schema }) =>
      texts.map(([title, piece]) => ({
        title: `${route.method} ${route.path} ${name}: ${title}`,
        // An escaped character takes three characters of the request line.
        path: addressOf(route, ids, { [name]: pumped(piece, Math.min(schema.maxLength ?? queryChars, queryChars / 3)) }),
        init: () => ({ method: route.method }),
      })),
    )

/** Metadata and lists of URLs may be larger than other bodies. */
const maxBytesOf = ({ path }: DeclaredRoute): number => (/metadata|\/urls$/.test(path) ? 10 * mib : mib)

type Shape = 'many members' | 'deep' | 'a long text'

const shapes: Readonly<Record<Shape, (bytes: number) => string>> = {
  // The maximum (`http.maxJsonMembers`); the remaining bytes are in their values.
  'many members': bytes => {
    const count = Math.min(Math.floor(bytes / 16), 90_000)
    const value = 'v'.repeat(Math.floor(bytes / count) - 14)
    return `{${Array.from({ length: count }, (_, n) => `"k${String(n).padStart(7, '0')}":"${value}"`).join(',')}}`
  },
  deep: bytes => {
    const deep = `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`
    return `[${pumped(`${deep},`, Math.floor(bytes / (deep.length + 1)) * (deep.length + 1)).slice(0, -1)}]`
  },
  'a long text': bytes => JSON.stringify(pumped('= ', bytes - 2)),
}

const made = new Map<string, Buffer>()
const shaped = (shape: Shape, bytes: number): Buffer => {
  const key = `${shape} ${bytes}`
  const known = made.get(key) ?? Buffer.from(shapes[shape](bytes))
  made.set(key, known)
  return known
}

/** Embeds the shape in a body with the properties that the schema requires. */
const holding = (shape: Buffer, schema: Schema): Buffer => {
  const sample = sampleOf(schema)
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample))
    return Buffer.concat([Buffer.from('['), shape, Buffer.from(']')])
  const rest = JSON.stringify(sample).slice(1)
  return Buffer.concat([Buffer.from('{"content":'), shape, Buffer.from(rest === '}' ? rest : `,${rest}`)])
}

const headers = { 'content-type': 'application/json' }

/** Every route parses JSON in the same way: routes with the largest limit get all shapes, the others two of them, round-robin. */
const bodiesOf = (route: DeclaredRoute, ids: Ids, number: number): readonly Hostile[] => {
  const { body, method } = route
  if (body === undefined) return []
  const maxBytes = maxBytesOf(route)
  const inside: readonly Shape[] = maxBytes > mib ? ['many members', 'deep', 'a long text'] : [number % 2 === 0 ? 'deep' : 'a long text']
  const about = { path: addressOf(route, ids) }
  const titleOf = (shape: string): string => `${method} ${route.path} body: ${shape}`
  return [
    { ...about, title: titleOf('many members'), init: () => ({ method, headers, body: shaped('many members', maxBytes - 4096) as never }) },
    ...inside.map(shape => ({
      ...about,
      title: titleOf(`${shape} inside`),
      init: () => ({ method, headers, body: holding(shaped(shape, maxBytes - 4096), body) as never }),
    })),
  ]
}

const formOf = (ids: Ids): FormData => {
  const form = new FormData()
  for (const name of ['name', 'description', 'metadata', 'tags']) form.set(name, pumped('= ', 500_000))
  form.set('dataset', ids['dataset'] ?? unknownId)
  form.set('File', new Blob([pumped(' ,"', mib)], { type: 'text/csv' }), pumped('a=', 2000))
  return form
}

/** The most expensive requests that a route accepts; `number` is its index among the routes. */
export const hostileRequests = (route: DeclaredRoute, ids: Ids, number: number): readonly Hostile[] => {
  const { method, path } = route
  const named = `${method} ${path}`
  const hasText = /\{/.test(path) && route.ids.length === 0
  return [
    ...queriesOf(route, ids),
    ...bodiesOf(route, ids, number),
    ...(route.takesParts ? [{ title: `${named} form`, path: addressOf(route, ids), init: () => ({ method, body: formOf(ids) }) }] : []),
    ...(hasText ? [{ title: `${named} path`, path: fill(path, () => pumped('=( ', 3000)), init: () => ({ method }) }] : []),
  ]
}
