import { Invalid, NotFound, Problem } from 'pounce/sdk'
import { defaultJsonLimits, parseJson } from 'pounce/sdk/kit'
import { allObservations, datastreams, features, locationOf, observedProperties, sensorEntities, sensorOf, thingOf } from './entities.ts'
import { type Entities, type Entity, type EntityCursor, type SetName, these } from './entity.ts'
import { EntityFormatter } from './entity-formatter.ts'
import { EntityLoader, type Ports } from './entity-loader.ts'
import type { ParsedOption, ParsedSegment } from './grammar/sensorthings-parser.js'
import { read } from './parsing.ts'
import { type EntityRequest, QueryOptionParser, type QueryOptions, type SentOptions } from './query-options.ts'
import { types } from './types.ts'
import { memberOf, shown, type Value } from './values.ts'

/** All entities of each set that the caller may view. */
const sets: Readonly<Record<SetName, (loader: EntityLoader) => Entities>> = {
  Things: loader => sensorEntities(loader, types.Things, thingOf),
  Locations: loader => sensorEntities(loader, types.Locations, locationOf),
  HistoricalLocations: () => these(types.HistoricalLocations, []),
  Datastreams: loader => datastreams(loader, {}),
  Sensors: loader => sensorEntities(loader, types.Sensors, sensorOf),
  ObservedProperties: observedProperties,
  Observations: allObservations,
  FeaturesOfInterest: features,
}

const isSetName = (name: string): name is SetName => Object.hasOwn(sets, name)

type Json = Readonly<Record<string, unknown>>

/** The target of a path. */
type Place =
  | { readonly is: 'entities'; readonly entities: Entities; readonly at: string }
  | { readonly is: 'entity'; readonly entity: Entity }
  | { readonly is: 'value'; readonly name: string; readonly value: Value }
  | { readonly is: 'references'; readonly entities: Entities; readonly at: string }

const maxSegments = 10

const conformance = 'http://www.opengis.net/spec/iot_sensing/1.1/req'

const conformsTo = [
  'datamodel',
  'resource-path/resource-path-to-entities',
  ...['order', 'expand', 'select', 'status-code', 'query-status-code', 'orderby', 'skip', 'top', 'filter', 'pagination'].map(
    name => `request-data/${name}`,
  ),
  'data-array/data-array',
]

/** The root resource: the entity sets and their URLs. */
export const rootOf = (baseUrl: string) => ({
  value: Object.keys(sets).map(name => ({ name, url: `${baseUrl}/api/sensorthings/v1.1/${name}` })),
  serverSettings: { conformance: conformsTo.map(name => `${conformance}/${name}`) },
})

/** Throws `NotFound` for missing and hidden entities, `Invalid` for an unsupported query. */
export const answerOf = async (ports: Ports, { caller, path, options, extras }: EntityRequest): Promise<Json> => {
  const loader = new EntityLoader(caller, ports)
  const place = await placeOf(loader, path)
  if (place.is === 'value') {
    mustHaveNone(options)
    return { [place.name]: shown(place.value) }
  }
  const isArray = options.$resultFormat !== undefined
  const answer = new EntityFormatter(loader.root, isArray ? [...extras, '$resultFormat=dataArray'] : extras)
  const type = place.is === 'entity' ? place.entity.type : place.entities.type
  const queryOptions = optionsOf(ports, place, type, options)
  if (isArray) {
    const isRight = place.is === 'entities' && type.set === 'Observations' && queryOptions.expand.length === 0
    if (!isRight) throw new Invalid('$resultFormat=dataArray is supported for lists of Observations without $expand only')
    return answer.dataArray(place.entities, queryOptions, place.at)
  }
  if (place.is === 'entity') return answer.one(place.entity, queryOptions)
  return place.is === 'references'
    ? answer.references(place.entities, queryOptions, place.at)
    : answer.list(place.entities, queryOptions, place.at)
}

/** The raw value of a property: a string unchanged, everything else as JSON. */
export const bareValueOf = async (ports: Ports, { caller, path }: Pick<EntityRequest, 'caller' | 'path'>): Promise<string> => {
  const place = await placeOf(new EntityLoader(caller, ports), path)
  if (place.is !== 'value') throw new Invalid('$value must follow a property, as in Things(1)/name/$value')
  const value = shown(place.value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const optionsOf = (ports: Ports, place: Place, type: Entities['type'], options: SentOptions): QueryOptions => {
  const queryOptions = new QueryOptionParser(() => ports.now()).read(type, parsed(options), { isMany: place.is !== 'entity' })
  if (options.$skiptoken === undefined) return queryOptions
  if (place.is === 'entity') throw new Invalid('$skiptoken is supported for lists only')
  return { ...queryOptions, after: readToken(options.$skiptoken) }
}

const mustHaveNone = (options: SentOptions): void => {
  const [name] = Object.keys(options)
  if (name !== undefined) throw new Invalid(`${name} is not supported for a property`)
}

const parsed = ({ $filter, $expand, $orderby, $select, $top, $skip, $count }: SentOptions): readonly ParsedOption[] => {
  const options: ParsedOption[] = []
  const at = 0
  if ($filter !== undefined) options.push({ is: 'filter', value: read('Filter', $filter, '$filter'), text: `$filter=${$filter}`, at })
  if ($expand !== undefined) options.push({ is: 'expand', value: read('Expand', $expand, '$expand'), text: `$expand=${$expand}`, at })
  if ($orderby !== undefined)
    options.push({ is: 'orderby', value: read('OrderBy', $orderby, '$orderby'), text: `$orderby=${$orderby}`, at })
  if ($select !== undefined) options.push({ is: 'select', value: read('Select', $select, '$select'), text: `$select=${$select}`, at })
  if ($top !== undefined) options.push({ is: 'top', value: $top, text: `$top=${$top}`, at })
  if ($skip !== undefined) options.push({ is: 'skip', value: $skip, text: `$skip=${$skip}`, at })
  if ($count !== undefined) options.push({ is: 'count', value: $count, text: `$count=${$count}`, at })
  return options
}

const readToken = (text: string): EntityCursor => {
  const refused = new Invalid('$skiptoken must come from @iot.nextLink')
  try {
    const cursor = parseJson(Buffer.from(text, 'base64url'), defaultJsonLimits)
    const isRight = Array.isArray(cursor) && cursor.length > 0 && cursor.every(part => typeof part === 'string' || typeof part === 'number')
    if (isRight) return cursor
  } catch {
    throw refused
  }
  throw refused
}

const noSuch = (name: string): Problem =>
  new Problem(404, 'not-found', `Unknown path segment ${name.slice(0, 100)}; see /api/sensorthings/v1.1`)

const placeOf = async (loader: EntityLoader, path: string): Promise<Place> => {
  const [name = ''] = path.split(/[(/]/)
  if (!isSetName(name)) throw noSuch(name)
  const [first, ...rest] = read('Path', path, 'The path')
  if (!first || rest.length >= maxSegments) throw new Invalid(`The path has more than ${maxSegments} segments`)
  let place = await chosen({ is: 'entities', entities: sets[name](loader), at: `${loader.root}/${name}` }, first)
  for (const segment of rest) place = await stepTo(loader, place, segment)
  return place
}

/** A single entity when the segment has a key. */
const chosen = async (place: Extract<Place, { is: 'entities' }>, { key }: ParsedSegment): Promise<Place> => {
  if (key === null) return place
  const entity = await place.entities.find(key)
  if (!entity) throw new NotFound(place.entities.type.one)
  return { is: 'entity', entity }
}

const stepTo = async (loader: EntityLoader, place: Place, segment: ParsedSegment): Promise<Place> => {
  const { name, key } = segment
  if (place.is === 'entities' && name === '$ref') return { ...place, is: 'references' }
  const inside = place.is === 'value' ? memberOf(place.value, name) : undefined
  if (inside !== undefined) return { is: 'value', name, value: inside }
  if (place.is !== 'entity') throw noSuch(name)
  const { entity } = place
  const { type } = entity
  const property = name === '@iot.id' ? 'id' : name
  if (Object.hasOwn(type.fields, property) && key === null) return { is: 'value', name, value: entity.field(property) }
  const link = Object.hasOwn(type.links, name) ? type.links[name] : undefined
  if (!link) throw noSuch(name)
  if (link.isMany) {
    const at = `${new EntityFormatter(loader.root, []).selfLink(entity)}/${name}`
    return chosen({ is: 'entities', entities: entity.many(name), at }, segment)
  }
  const other = key === null ? await entity.one(name) : undefined
  if (!other) throw new NotFound(types[link.to].one)
  return { is: 'entity', entity: other }
}
