import { type Datapoint, geoNumberOf, sensorIdOf, streamIdOf } from 'pounce/sdk'
import { descriptionOf, observationTypeOf, placeOfBox, spanOf, unitOf } from './described.ts'
import { type Entities, type Entity, type EntityType, type Hints, type Key, these, type Walk } from './entity.ts'
import type { EntityLoader, Sensor } from './entity-loader.ts'
import { entity, isNumber, partsOf, steps } from './made.ts'
import { types } from './types.ts'
import { GeoPlace, TimeSpan, type Value } from './values.ts'
import { namesOf, type Observed, seenPoint, walkAllObserved, walkObserved, walkPoints } from './walk-points.ts'
import { type Measured, type MeasuredScope, parametersOf, walkMeasured, walkSensors } from './walk-records.ts'

const byId = { by: 'id', isDescending: false }
const recordWalk = ({ order, ...walk }: Walk) => ({ order: order ?? byId, ...walk })

const historical = (): Entities => these(types.HistoricalLocations, [])

const aboutSensor = (sensor: Sensor) => ({
  name: () => sensor.name,
  description: () => descriptionOf(sensor),
})

export const thingOf = (world: EntityLoader, sensor: Sensor): Entity =>
  entity({
    type: types.Things,
    key: geoNumberOf(sensor.id),
    fields: { ...aboutSensor(sensor), properties: () => sensor.properties },
    manies: {
      Locations: () => these(types.Locations, [locationOf(world, sensor)]),
      HistoricalLocations: historical,
      Datastreams: () => datastreams(world, { sensor: sensor.id }),
    },
  })

export const locationOf = (world: EntityLoader, sensor: Sensor): Entity =>
  entity({
    type: types.Locations,
    key: geoNumberOf(sensor.id),
    fields: {
      ...aboutSensor(sensor),
      properties: () => ({}),
      encodingType: () => 'application/geo+json',
      location: () => new GeoPlace(sensor.geometry),
    },
    manies: { Things: () => these(types.Things, [thingOf(world, sensor)]), HistoricalLocations: historical },
  })

export const sensorOf = (world: EntityLoader, sensor: Sensor): Entity =>
  entity({
    type: types.Sensors,
    key: geoNumberOf(sensor.id),
    fields: {
      ...aboutSensor(sensor),
      properties: () => ({}),
      encodingType: () => 'application/json',
      metadata: () => `${world.ports.baseUrl}/api/geostreams/sensors/${geoNumberOf(sensor.id)}`,
    },
    manies: { Datastreams: () => datastreams(world, { sensor: sensor.id }) },
  })

/** Things, Locations or Sensors: three ways to look at sensors. */
export const sensorEntities = (world: EntityLoader, type: EntityType, show: (world: EntityLoader, sensor: Sensor) => Entity): Entities => ({
  type,
  walk: walk => steps(walkSensors(world, recordWalk(walk)), sensor => show(world, sensor)),
  async find(key) {
    const sensor = isNumber(key) ? await world.sensor(sensorIdOf(key)) : undefined
    return sensor && show(world, sensor)
  },
  count: upTo => world.ports.sensors.count(world.caller, {}, upTo),
})

export const propertyOf = (world: EntityLoader, name: string): Entity =>
  entity({
    type: types.ObservedProperties,
    key: name,
    fields: {
      name: () => name,
      description: () => name,
      properties: () => ({}),
      definition: () => `${world.root}/ObservedProperties('${encodeURIComponent(name.replaceAll("'", "''"))}')`,
    },
    manies: { Datastreams: () => datastreams(world, { parameter: name }) },
  })

/** By code point; of very many streams the first ones count. */
export const observedProperties = (world: EntityLoader): Entities => ({
  type: types.ObservedProperties,
  async *walk({ order, after }) {
    const names = await parametersOf(world)
    const last = after?.[0]
    const isBehind = (name: string): boolean => last === undefined || (order?.isDescending ? name < String(last) : name > String(last))
    const left = (order?.isDescending ? names.toReversed() : names).filter(isBehind)
    yield left.map(name => ({ show: () => propertyOf(world, name), cursor: [name] }))
  },
  find: async key => (typeof key === 'string' && (await parametersOf(world)).includes(key) ? propertyOf(world, key) : undefined),
  count: async upTo => Math.min(upTo, (await parametersOf(world)).length),
})

export const datastreamOf = async (world: EntityLoader, measured: Measured): Promise<Entity> => {
  const { stream, parameter, statistics } = measured
  const [newest, sensor] = await Promise.all([world.newest(stream), world.sensor(stream.sensor)])
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
      Thing: async () => sensor && thingOf(world, sensor),
      Sensor: async () => sensor && sensorOf(world, sensor),
      ObservedProperty: async () => propertyOf(world, parameter),
    },
    manies: { Observations: () => observations(world, measured) },
  })
}

/** A filter may name the thing or the observed property. */
const narrower = (scope: MeasuredScope, { thing, parameter }: Hints): MeasuredScope => ({
  ...(parameter === undefined ? {} : { parameter }),
  ...(thing !== undefined && isNumber(thing) ? { sensor: sensorIdOf(thing) } : {}),
  ...scope,
})

export const datastreams = (world: EntityLoader, scope: MeasuredScope): Entities => ({
  type: types.Datastreams,
  walk: walk => steps(walkMeasured(world, narrower(scope, walk.hints), recordWalk(walk)), measured => datastreamOf(world, measured)),
  async find(key) {
    const [number, parameter] = partsOf(key)
    const measured = number === undefined ? undefined : await findMeasured(world, number, parameter)
    const isInside = (scope.sensor ?? measured?.stream.sensor) === measured?.stream.sensor && (scope.parameter ?? parameter) === parameter
    return measured && isInside ? datastreamOf(world, measured) : undefined
  },
  async count(_upTo, mayLook) {
    let count = 0
    for await (const lot of walkMeasured(world, scope, { order: byId, hints: {}, wanted: 1000 })) {
      for (const { item } of lot) {
        if (!mayLook()) return count
        if (item) count += 1
      }
    }
    return count
  },
})

export const findMeasured = async (world: EntityLoader, number: number, parameter: string): Promise<Measured | undefined> => {
  const [stream, statistics] = await Promise.all([world.stream(streamIdOf(number)), world.statistics(number)])
  return stream && statistics?.properties.includes(parameter) ? { stream, parameter, statistics } : undefined
}

export const observationOf = (world: EntityLoader, { point, parameter }: Observed): Entity =>
  entity({
    type: types.Observations,
    key: `${point.id}:${parameter}`,
    fields: {
      'Datastream/id': () => `${point.stream}:${parameter}`,
      phenomenonTime: () => new TimeSpan(point.startMs, point.endMs),
      resultTime: () => new TimeSpan(point.endMs ?? point.startMs),
      result: () => point.properties[parameter],
      parameters: () =>
        Object.fromEntries(Object.entries(point.properties).filter(([name, value]) => isLabel(value) && name !== parameter)),
    },
    ones: {
      Datastream: async () => {
        const measured = await findMeasured(world, point.stream, parameter)
        return measured && datastreamOf(world, measured)
      },
      FeatureOfInterest: async () => featureOf(world, point),
    },
  })

/** What tells of the circumstances rather than being measured. */
const isLabel = (value: Value): boolean => typeof value === 'string' || typeof value === 'boolean'

/** Those of one datastream. */
export const observations = (world: EntityLoader, measured: Measured): Entities => {
  const { stream, parameter, statistics } = measured
  return {
    type: types.Observations,
    walk: walk => steps(walkObserved(world, measured, walk), observed => observationOf(world, observed)),
    async find(key) {
      const found = await findObserved(world, key)
      return found && found.point.stream === geoNumberOf(stream.id) && found.parameter === parameter
        ? observationOf(world, found)
        : undefined
    },
    // What the store looks through is bounded by what the stream has; more is walked.
    async count(upTo) {
      if (statistics.count > upTo) return undefined
      return world.ports.geo.count({ streams: [geoNumberOf(stream.id)], attributes: [{ key: parameter }] }, upTo)
    },
  }
}

export const allObservations = (world: EntityLoader): Entities => ({
  type: types.Observations,
  async *walk(walk) {
    const { datastream } = walk.hints
    if (datastream === undefined) return yield* steps(walkAllObserved(world, walk), observed => observationOf(world, observed))
    const [number, parameter] = partsOf(datastream)
    const measured = number === undefined ? undefined : await findMeasured(world, number, parameter)
    if (measured) yield* observations(world, measured).walk(walk)
  },
  async find(key) {
    const found = await findObserved(world, key)
    return found && observationOf(world, found)
  },
})

const findObserved = async (world: EntityLoader, key: Key): Promise<Observed | undefined> => {
  const [number, parameter] = partsOf(key)
  const point = number === undefined ? undefined : await seenPoint(world, number)
  return point && Object.hasOwn(point.properties, parameter) ? { point, parameter } : undefined
}

export const featureOf = (world: EntityLoader, point: Datapoint): Entity =>
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
          namesOf(point).map(parameter => observationOf(world, { point, parameter })),
        ),
    },
  })

export const features = (world: EntityLoader): Entities => ({
  type: types.FeaturesOfInterest,
  walk: walk => steps(walkPoints(world, walk), point => featureOf(world, point)),
  async find(key) {
    const point = isNumber(key) ? await seenPoint(world, key) : undefined
    return point && featureOf(world, point)
  },
})
