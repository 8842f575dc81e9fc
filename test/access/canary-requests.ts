import { type DeclaredRoute, kindOf, type Schema } from '../support/declared-routes.ts'
import { emptyForm } from './canary-crawl.ts'
import { planted } from './canary-readings.ts'
import type { Ids } from './canary-things.ts'

/** One read request. */
export interface CanaryRequest {
  readonly route: DeclaredRoute
  readonly path: string
  /** Sent as JSON; `emptyForm` as multipart. */
  readonly body?: unknown
  /** The same request for resources that do not exist; undefined if it refers to none. */
  readonly unknown?: { readonly path: string; readonly body?: unknown }
}

export const unknownId = 'ffffffffffffffffffffffff'

const isId = (value: string): boolean => /^[0-9a-f]{24}$/.test(value)

/** Keys in a set for the resource of a path parameter, if they differ from its kind. */
const places: Readonly<Record<string, readonly string[]>> = {
  collection: ['collection', 'child'],
  folder: ['folder', 'top'],
  metadata: ['metadata', 'datasetMetadata', 'spaceMetadata'],
  comment: ['comment', 'datasetComment'],
  thumbnail: ['thumbnail', 'sectionThumbnail'],
  definition: ['definition'],
  resource: ['file', 'dataset'],
  source: ['file', 'dataset'],
  node: ['space', 'collection', 'dataset', 'folder'],
}

/** Values of a set for a parameter name; ids of other resources if the set has none for it. */
const idsFor = (set: Ids, name: string): readonly string[] => {
  const plain = name
    .replace(/_?(?:id|uuid|list)s?$/i, '')
    .replace(/^(?:current|to|from)(?=[A-Z])/, '')
    .toLowerCase()
  const known = (places[plain] ?? [plain]).flatMap(each => set[each] ?? [])
  return known.length > 0 || plain in places ? known : ['dataset', 'file', 'space', 'user'].flatMap(each => set[each] ?? [])
}

/** All combinations of values of path parameters. */
const fillings = (path: string, valuesOf: (kind: string, name: string) => readonly string[]): readonly string[] => {
  const name = /\{(\w+)\}/.exec(path)?.[1]
  if (name === undefined) return [path]
  return valuesOf(kindOf(path, name), name).flatMap(value => fillings(path.replace(`{${name}}`, encodeURIComponent(value)), valuesOf))
}

const entitySets = ['Things', 'Locations', 'Sensors', 'Datastreams', 'ObservedProperties', 'Observations', 'FeaturesOfInterest']

/** SensorThings entity sets, and the entities of a sensor, a stream and a datapoint. */
const inSensorThings = (name: string, { sensor, stream, datapoint }: Ids): readonly string[] => {
  if (name === 'property') return ['name']
  if (name === 'link') return ['Thing']
  const entities = sensor === undefined ? [] : [`Things(${sensor})`, `Datastreams('${stream}:level')`, `Observations('${datapoint}:level')`]
  return name === 'entity' ? entities : [...entitySets, ...entities]
}

/** Values of a set for the path parameters of a route. */
const valuesIn =
  ({ path, ids, numbers }: DeclaredRoute, set: Ids) =>
  (kind: string, name: string): readonly string[] => {
    if (ids.includes(name)) return idsFor(set, kind)
    if (path.startsWith('/api/sensorthings/')) return inSensorThings(name, set)
    if (numbers.includes(name)) return set[kind] === undefined ? [] : [set[kind]]
    if (name === 'folder') return set['preview'] === undefined ? [] : [`${set['preview']}_files`]
    return [set[name] ?? (/proxy/.test(path) ? 'canary' : (Object.values(set).find(isId) ?? unknownId))]
  }

const isIdName = (name: string, { pattern = '' }: Schema): boolean =>
  pattern.includes('[0-9a-f]{24}') || /(?:^|_)(?:id|space|collection|dataset|file|folder|user)s?$|Id$|UUID$|ids$|List$/.test(name)

const choices = ({ enum: fixed, anyOf, type }: Schema): readonly string[] => {
  if (fixed) return fixed.map(String)
  if (anyOf) return anyOf.flatMap(choices)
  return type === 'boolean' ? ['true', 'false'] : []
}

/** Queries with many hits: the empty string, the prefix of every word, and queries of the search language. */
const wide = ['', 'zq*', 'name:zq*', 'tag:zq*', 'creator:zq*', 'email:zq*', 'created:>2000-01-01', 'resource_type:file']

const plainValues = (name: string, schema: Schema): readonly string[] => {
  if (/^(?:limit|size|max)$/.test(name)) return ['100']
  if (name === 'grouping') return ['OR']
  if (name === 'facets') return ['type,media_type,tag,space,creator,year']
  if (name === '$expand') return ['Datastreams', 'Observations', 'Thing', 'Datastream', 'Locations']
  if (name === 'geocode') return [`${planted.latitude},${planted.longitude},1`]
  if (name === 'geojson') return [planted.around]
  const fixed = choices(schema)
  if (fixed.length > 0) return fixed
  return schema.type === 'string' && schema.pattern === undefined ? (name === 'query' ? wide : ['', 'zq']) : []
}

/** Required query parameters, except the one that varies. */
const base = (route: DeclaredRoute, without: string, set: Ids): readonly [string, string][] =>
  route.query
    .filter(({ name, required }) => required && name !== without)
    .map(({ name, schema }) => [name, isIdName(name, schema) ? (idsFor(set, name)[0] ?? unknownId) : (choices(schema)[0] ?? 'zq')])

type Pairs = readonly (readonly [string, string])[]
const withQuery = (path: string, pairs: Pairs): string =>
  pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value]))}`

/** Queries with each id of a set in each parameter that takes an id. */
const queriesNaming = (route: DeclaredRoute, set: Ids): readonly Pairs[] =>
  route.query.flatMap(({ name, schema }) => {
    if (!isIdName(name, schema)) return []
    const rest = base(route, name, set)
    const types = route.query.find(each => each.name === 'nodeType') ? ['root', 'space', 'collection', 'dataset', 'folder'] : []
    const others = types.map(type => [...rest.filter(([other]) => other !== 'nodeType'), ['nodeType', type] as const])
    return idsFor(set, name).flatMap(id => (others.length === 0 ? [rest] : others).map(pairs => [...pairs, [name, id] as const]))
  })

/** Positions in paths, queries and bodies of the number of a sensor, a stream or a datapoint. */
const numberPlaces =
  /((?:(?:sensor|stream|datapoint)s\/|(?:sensor|stream)_id(?:=|":")|(?:Things|Locations|Datastreams|Observations)\('?))(\d+)/g
const unknownNumber = '999999999'

/** Replaces the set's ids in a text with unknown ones. Undefined if the text contains none of them. */
const unnamed = (text: string, set: Ids): string | undefined => {
  const ids = new Set(Object.values(set))
  const other = text
    .replaceAll(/[0-9a-f]{24}/g, id => (ids.has(id) ? unknownId : id))
    .replaceAll(numberPlaces, (found: string, place: string, number: string) => (ids.has(number) ? place + unknownNumber : found))
  return other === text ? undefined : other
}

/** All requests that refer to resources of a set. */
export const requestsNaming = (route: DeclaredRoute, set: Ids): readonly CanaryRequest[] => {
  const paths = fillings(route.path, valuesIn(route, set))
  const named = [
    ...paths.map(path => withQuery(path, base(route, '', set))),
    ...queriesNaming(route, set).map(pairs => withQuery(paths[0] ?? '', pairs)),
  ]
  return [...new Set(paths.length === 0 ? [] : named)].flatMap(path => {
    const unknown = unnamed(path, set)
    return unknown === undefined ? [] : [{ route, path, unknown: { path: unknown } }]
  })
}

/** A body that matches a schema, with ids of the set for its references. */
const bodyFor = (schema: Schema, set: Ids, name = ''): unknown => {
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return bodyFor(schema.anyOf.at(-1) ?? {}, set, name)
  if (schema.type === 'array') return [bodyFor(schema.items ?? {}, set, name)]
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([key, value]) => [key, bodyFor(value, set, key === 'id' ? name : key)]),
    )
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return 1
  return isIdName(name, schema) || /files$|^(?:source|target)$/.test(name)
    ? (idsFor(set, name === 'target' ? 'file' : name)[0] ?? unknownId)
    : 'text'
}

/** All requests that change resources of a set, with its ids in path, query and body. */
export const changesOf = (route: DeclaredRoute, set: Ids): readonly CanaryRequest[] => {
  const body = route.takesParts ? emptyForm : route.body && bodyFor(route.body, set)
  const text = body === emptyForm ? '' : JSON.stringify(body ?? '')
  return fillings(route.path, valuesIn(route, set)).flatMap(filled => {
    const path = withQuery(filled, base(route, '', set))
    const unknown = [unnamed(path, set), unnamed(text, set)]
    if (unknown.every(each => each === undefined)) return []
    const other = unknown[1] === undefined ? body : (JSON.parse(unknown[1]) as unknown)
    return [{ route, path, body, unknown: { path: unknown[0] ?? path, body: other } }]
  })
}

/** Requests of a route with each of its flags and broad queries, for resources of a set if it refers to any. */
export const requestsWide = (route: DeclaredRoute, set: Ids): readonly CanaryRequest[] => {
  const [path] = fillings(route.path, valuesIn(route, set))
  if (path === undefined) return []
  const varied = route.query.flatMap(({ name, schema }) =>
    isIdName(name, schema) ? [] : plainValues(name, schema).map(value => [...base(route, name, set), [name, value] as const]),
  )
  // The excerpt of a hit depends on the query.
  const quoting = route.query.some(({ name }) => name === 'view')
    ? wide.map(text => [['query', text] as const, ['view', 'full'] as const])
    : []
  return [[], ...varied, ...quoting].map(pairs => ({ route, path: withQuery(path, pairs) }))
}

const isText = (schema: Schema): boolean => schema.type === 'string' && schema.pattern === undefined && schema.enum === undefined

/** Parameters with a fixed format, for which a word is always invalid. */
const formed = /^(?:after|date|when|since|until|geocode|geojson|window_start|window_end|created|order|expires|returnTo|permission)$/

/** Requests with a word in every string parameter. */
export const requestsWith = (route: DeclaredRoute, set: Ids, word: string): readonly CanaryRequest[] => {
  const texts = route.query.filter(({ name, schema }) => isText(schema) && !isIdName(name, schema) && !formed.test(name))
  const isNamed = /\{/.test(route.path) && route.ids.length === 0
  const paths = isNamed ? fillings(route.path, () => [word]) : []
  const plain = fillings(route.path, valuesIn(route, set))[0] ?? route.path
  const queries = texts.flatMap(({ name }) => {
    const isSearch = name === 'query' && !/json/.test(route.path)
    return (isSearch ? [word, `email:${word}*`, `"${word}"==${word}`] : [word]).map(value =>
      withQuery(plain, [...base(route, name, set), [name, value]]),
    )
  })
  return [...paths, ...queries].map(path => ({ route, path }))
}
