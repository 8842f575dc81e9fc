import type { Json } from 'pounce/sdk'
import { type Datapoint, type Geometry, geoNumberOf, type StreamStatistics, sensorIdOf, streamIdOf } from 'pounce/sdk/geo'
import { isJsonObject } from 'pounce/sdk/kit'
import { type Entities, type Entity, type EntityKey, type EntityStep, type EntityType, type Hints, these, type Walk } from './entity.ts'
import type { EntityLoader, StoredSensor } from './entity-loader.ts'
import { types } from './types.ts'
import { EntityTimeSpan, GeoPlace, type Value } from './values.ts'
import { namesOf, type Observed, seenPoint, walkAllObserved, walkObserved, walkPoints } from './walk-points.ts'
import { type MeasuredScope, parametersOf, type RecordBatch, type StreamParameter, walkMeasured, walkSensors } from './walk-records.ts'

type Properties = { readonly [key: string]: Json }

/** The description of a sensor or stream, or its name. */
const descriptionOf = ({ name, properties }: { readonly name: string; readonly properties: Properties }): string => {
  const texts = [properties['description'], properties['popupContent']]
  return texts.find(text => typeof text === 'string' && text !== '')?.toString() ?? name
}

const observationTypes = 'http://www.opengis.net/def/observationType/OGC-OM/2.0'

/** Determined by the newest datapoints that have the parameter. */
const observationTypeOf = (newest: readonly Datapoint[], parameter: string): string => {
  const values = newest.map(({ properties }) => properties[parameter] ?? null).filter(value => value !== null)
  const areAll = (type: string): boolean => values.length > 0 && values.every(value => typeof value === type)
  if (areAll('number')) return `${observationTypes}/OM_Measurement`
  return `${observationTypes}/${areAll('boolean') ? 'OM_TruthObservation' : 'OM_Observation'}`
}

/** A unit with the members that the standard requires; null if unknown. */
interface Unit {
  readonly [member: string]: string | null
}

const textOf = (value: Json | undefined): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** A unit as users specify it: its symbol, or an object with some of name, symbol and definition. */
const readUnit = (value: Json | undefined): Unit | undefined => {
  const symbol = textOf(value)
  if (symbol !== null) return { name: symbol, symbol, definition: null }
  if (!isJsonObject(value)) return undefined
  const [name, written, definition] = ['name', 'symbol', 'definition'].map(member => textOf(value[member]))
  return name || written || definition ? { name: name ?? null, symbol: written ?? null, definition: definition ?? null } : undefined
}

const names = ['unitOfMeasurement', 'unitsOfMeasurement', 'units', 'unit'] as const

/** For this parameter only, or for all parameters. */
const unitIn = (parameter: string, properties: Properties): Unit | undefined => {
  for (const name of names) {
    const described = properties[name]
    const own = isJsonObject(described) && Object.hasOwn(described, parameter) ? readUnit(described[parameter]) : undefined
    const unit = own ?? readUnit(described)
    if (unit) return unit
  }
  return undefined
}

/** The unit of a parameter in the properties of the stream, or of its sensor. */
const unitOf = (parameter: string, stream: Properties, sensor: Properties): Unit =>
  unitIn(parameter, stream) ?? unitIn(parameter, sensor) ?? { name: null, symbol: null, definition: null }

/** The smallest geometry that covers a box. */
const placeOfBox = ([west, south, east, north]: StreamStatistics['box']): GeoPlace => {
  const corners = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  if (west === east && south === north) return new GeoPlace({ type: 'Point', coordinates: [west, south] })
  const isLine = west === east || south === north
  const line: Geometry = {
    type: 'LineString',
    coordinates: [
      [west, south],
      [east, north],
    ],
  }
  return new GeoPlace(isLine ? line : { type: 'Polygon', coordinates: [corners] })
}

/** From the first start to the last start or end. */
const spanOf = ({ firstStartMs, lastEndMs }: StreamStatistics, newest: readonly Datapoint[]): Value => {
  const last = newest[0]?.startMs ?? firstStartMs
  return new EntityTimeSpan(firstStartMs, Math.max(firstStartMs, last, lastEndMs ?? last))
}

/** The parts of an entity. */
interface Made {
  readonly type: EntityType
  readonly key: EntityKey
  readonly fields: Readonly<Record<string, () => Value>>
  readonly ones?: Readonly<Record<string, () => Promise<Entity | undefined>>>
  readonly manies?: Readonly<Record<string, () => Entities>>
}

/** An entity; its fields are computed when they are read. */
const entity = ({ type, key, fields, ones = {}, manies = {} }: Made): Entity => ({
  type,
  key,
  field: name => (name === 'id' ? key : fields[name]?.()),
  one: async link => ones[link]?.(),
  many(link) {
    const many = manies[link]
    if (!many) throw new Error(`${type.set} have no ${link}`)
    return many()
  },
})

/** Walks records and converts them to entities. */
async function* steps<T>(
  looked: AsyncIterable<RecordBatch<T>>,
  show: (item: T) => Entity | Promise<Entity>,
): AsyncGenerator<readonly EntityStep[]> {
  for await (const lot of looked)
    yield lot.map(({ item, cursor }) => (item === undefined ? { cursor } : { show: () => show(item), cursor }))
}

/** A compound key: a number and the name of a parameter. */
const partsOf = (key: EntityKey): readonly [number | undefined, string] => {
  const [, digits, parameter] = /^([1-9]\d{0,15}):(.*)$/s.exec(String(key)) ?? []
  const number = Number(digits)
  return parameter === undefined || !Number.isSafeInteger(number) ? [undefined, ''] : [number, parameter]
}

/** A key that is the number of a sensor or datapoint. */
const isNumber = (key: EntityKey): key is number => Number.isSafeInteger(key) && Number(key) > 0

const byId = { by: 'id', isDescending: false }

const recordWalk = ({ order, ...walk }: Walk) => ({ order: order ?? byId, ...walk })

const historical = (): Entities => these(types.HistoricalLocations, [])

const aboutSensor = (sensor: StoredSensor) => ({
  name: () => sensor.name,
  description: () => descriptionOf(sensor),
})

export const thingOf = (loader: EntityLoader, sensor: StoredSensor): Entity =>
  entity({
    type: types.Things,
    key: geoNumberOf(sensor.id),
    fields: { ...aboutSensor(sensor), properties: () => sensor.properties },
    manies: {
      Locations: () => these(types.Locations, [locationOf(loader, sensor)]),
      HistoricalLocations: historical,
      Datastreams: () => datastreams(loader, { sensor: sensor.id }),
    },
  })

export const locationOf = (loader: EntityLoader, sensor: StoredSensor): Entity =>
  entity({
    type: types.Locations,
    key: geoNumberOf(sensor.id),
    fields: {
      ...aboutSensor(sensor),
      properties: () => ({}),
      encodingType: () => 'application/geo+json',
      location: () => new GeoPlace(sensor.geometry),
    },
    manies: { Things: () => these(types.Things, [thingOf(loader, sensor)]), HistoricalLocations: historical },
  })

export const sensorOf = (loader: EntityLoader, sensor: StoredSensor): Entity =>
  entity({
    type: types.Sensors,
    key: geoNumberOf(sensor.id),
    fields: {
      ...aboutSensor(sensor),
      properties: () => ({}),
      encodingType: () => 'application/json',
      metadata: () => `${loader.ports.baseUrl}/api/geostreams/sensors/${geoNumberOf(sensor.id)}`,
    },
    manies: { Datastreams: () => datastreams(loader, { sensor: sensor.id }) },
  })

/** Things, Locations or Sensors: three views of sensors. */
export const sensorEntities = (
  loader: EntityLoader,
  type: EntityType,
  show: (loader: EntityLoader, sensor: StoredSensor) => Entity,
): Entities => ({
  type,
  walk: walk => steps(walkSensors(loader, recordWalk(walk)), sensor => show(loader, sensor)),
  async find(key) {
    const sensor = isNumber(key) ? await loader.sensor(sensorIdOf(key)) : undefined
    return sensor && show(loader, sensor)
  },
  count: upTo => loader.ports.sensors.count(loader.caller, {}, upTo),
})

export const propertyOf = (loader: EntityLoader, name: string): Entity =>
  entity({
    type: types.ObservedProperties,
    key: name,
    fields: {
      name: () => name,
      description: () => name,
      properties: () => ({}),
      definition: () => `${loader.root}/ObservedProperties('${encodeURIComponent(name.replaceAll("'", "''"))}')`,
    },
    manies: { Datastreams: () => datastreams(loader, { parameter: name }) },
  })

/** By code point; with very many streams, those of the first ones. */
export const observedProperties = (loader: EntityLoader): Entities => ({
  type: types.ObservedProperties,
  async *walk({ order, after }) {
    const names = await parametersOf(loader)
    const last = after?.[0]
    const isBehind = (name: string): boolean => last === undefined || (order?.isDescending ? name < String(last) : name > String(last))
    const left = (order?.isDescending ? names.toReversed() : names).filter(isBehind)
    yield left.map(name => ({ show: () => propertyOf(loader, name), cursor: [name] }))
  },
  find: async key => (typeof key === 'string' && (await parametersOf(loader)).includes(key) ? propertyOf(loader, key) : undefined),
  count: async upTo => Math.min(upTo, (await parametersOf(loader)).length),
})

const datastreamOf = async (loader: EntityLoader, measured: StreamParameter): Promise<Entity> => {
  const { stream, parameter, statistics } = measured
  const [newest, sensor] = await Promise.all([loader.newest(stream), loader.sensor(stream.sensor)])
  const span = spanOf(statistics, newest)
  return entity({
    type: types.Datastreams,
    key: `${geoNumberOf(stream.id)}:${parameter}`,
    fields: {
      name: () => `${stream.name}: ${parameter}`,
      description: () => descriptionOf(stream),
      properties: () => stream.properties,
      observationType: () => observationTypeOf(newest, parameter),
      unitOfMeasurement: () => unitOf(parameter, stream.properties, sensor?.properties ?? {}),
      observedArea: () => placeOfBox(statistics.box),
      phenomenonTime: () => span,
      resultTime: () => span,
    },
    ones: {
      Thing: async () => sensor && thingOf(loader, sensor),
      Sensor: async () => sensor && sensorOf(loader, sensor),
      ObservedProperty: async () => propertyOf(loader, parameter),
    },
    manies: { Observations: () => observations(loader, measured) },
  })
}

/** A filter may specify the thing or the observed property. */
const narrower = (scope: MeasuredScope, { thing, parameter }: Hints): MeasuredScope => ({
  ...(parameter === undefined ? {} : { parameter }),
  ...(thing !== undefined && isNumber(thing) ? { sensor: sensorIdOf(thing) } : {}),
  ...scope,
})

export const datastreams = (loader: EntityLoader, scope: MeasuredScope): Entities => ({
  type: types.Datastreams,
  walk: walk => steps(walkMeasured(loader, narrower(scope, walk.hints), recordWalk(walk)), measured => datastreamOf(loader, measured)),
  async find(key) {
    const [number, parameter] = partsOf(key)
    const measured = number === undefined ? undefined : await findMeasured(loader, number, parameter)
    const isInside = (scope.sensor ?? measured?.stream.sensor) === measured?.stream.sensor && (scope.parameter ?? parameter) === parameter
    return measured && isInside ? datastreamOf(loader, measured) : undefined
  },
  async count(_upTo, mayLook) {
    let count = 0
    for await (const lot of walkMeasured(loader, scope, { order: byId, hints: {}, wanted: 1000 })) {
      for (const { item } of lot) {
        if (!mayLook()) return count
        if (item) count += 1
      }
    }
    return count
  },
})

const findMeasured = async (loader: EntityLoader, number: number, parameter: string): Promise<StreamParameter | undefined> => {
  const [stream, statistics] = await Promise.all([loader.stream(streamIdOf(number)), loader.statistics(number)])
  return stream && statistics?.properties.includes(parameter) ? { stream, parameter, statistics } : undefined
}

const observationOf = (loader: EntityLoader, { point, parameter }: Observed): Entity =>
  entity({
    type: types.Observations,
    key: `${point.id}:${parameter}`,
    fields: {
      'Datastream/id': () => `${point.stream}:${parameter}`,
      phenomenonTime: () => new EntityTimeSpan(point.startMs, point.endMs),
      resultTime: () => new EntityTimeSpan(point.endMs ?? point.startMs),
      result: () => point.properties[parameter],
      parameters: () =>
        Object.fromEntries(Object.entries(point.properties).filter(([name, value]) => isLabel(value) && name !== parameter)),
    },
    ones: {
      Datastream: async () => {
        const measured = await findMeasured(loader, point.stream, parameter)
        return measured && datastreamOf(loader, measured)
      },
      FeatureOfInterest: async () => featureOf(loader, point),
    },
  })

/** Properties that describe the circumstances rather than a measurement. */
const isLabel = (value: Value): boolean => typeof value === 'string' || typeof value === 'boolean'

/** Observations of one datastream. */
export const observations = (loader: EntityLoader, measured: StreamParameter): Entities => {
  const { stream, parameter, statistics } = measured
  return {
    type: types.Observations,
    walk: walk => steps(walkObserved(loader, measured, walk), observed => observationOf(loader, observed)),
    async find(key) {
      const found = await findObserved(loader, key)
      return found && found.point.stream === geoNumberOf(stream.id) && found.parameter === parameter
        ? observationOf(loader, found)
        : undefined
    },
    // The store's scan is bounded by the size of the stream; more is walked.
    async count(upTo) {
      if (statistics.count > upTo) return undefined
      return loader.ports.geo.count({ streams: [geoNumberOf(stream.id)], attributes: [{ key: parameter }] }, upTo)
    },
  }
}

/** Observations of more datastreams are walked to count them. */
const maxCountedDatastreams = 1000

export const allObservations = (loader: EntityLoader): Entities => ({
  type: types.Observations,
  async *walk(walk) {
    const { datastream } = walk.hints
    if (datastream === undefined) return yield* steps(walkAllObserved(loader, walk), observed => observationOf(loader, observed))
    const [number, parameter] = partsOf(datastream)
    const measured = number === undefined ? undefined : await findMeasured(loader, number, parameter)
    if (measured) yield* observations(loader, measured).walk(walk)
  },
  async find(key) {
    const found = await findObserved(loader, key)
    return found && observationOf(loader, found)
  },
  // Each datastream requires a scan of its stream; more is walked.
  async count(upTo, mayLook) {
    const all: StreamParameter[] = []
    let scanned = 0
    for await (const lot of walkMeasured(loader, {}, { order: byId, hints: {}, wanted: 1000 })) {
      for (const { item } of lot) {
        if (!item) continue
        all.push(item)
        scanned += item.statistics.count
      }
      if (scanned > upTo || all.length > maxCountedDatastreams) return undefined
    }
    let count = 0
    for (const measured of all) count += (await observations(loader, measured).count?.(upTo, mayLook)) ?? 0
    return count
  },
})

const findObserved = async (loader: EntityLoader, key: EntityKey): Promise<Observed | undefined> => {
  const [number, parameter] = partsOf(key)
  const point = number === undefined ? undefined : await seenPoint(loader, number)
  return point && Object.hasOwn(point.properties, parameter) ? { point, parameter } : undefined
}

export const featureOf = (loader: EntityLoader, point: Datapoint): Entity =>
  entity({
    type: types.FeaturesOfInterest,
    key: point.id,
    fields: {
      name: () => `Datapoint ${point.id}`,
      description: () => `Where datapoint ${point.id} was taken`,
      properties: () => ({}),
      encodingType: () => 'application/geo+json',
      feature: () => new GeoPlace(point.geometry),
    },
    manies: {
      Observations: () =>
        these(
          types.Observations,
          namesOf(point).map(parameter => observationOf(loader, { point, parameter })),
        ),
    },
  })

export const features = (loader: EntityLoader): Entities => ({
  type: types.FeaturesOfInterest,
  walk: walk => steps(walkPoints(loader, walk), point => featureOf(loader, point)),
  async find(key) {
    const point = isNumber(key) ? await seenPoint(loader, key) : undefined
    return point && featureOf(loader, point)
  },
})
