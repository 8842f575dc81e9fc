import type { EntityType, LinkType, SetName } from './entity.ts'

const one = (to: SetName): LinkType => ({ to, isMany: false, isSure: true })
const many = (to: SetName, isSure = false): LinkType => ({ to, isMany: true, isSure })

const described = { name: 'text', description: 'text', properties: 'any' } as const

/** The sets in the order of the root resource. */
export const types: Readonly<Record<SetName, EntityType>> = {
  Things: {
    set: 'Things',
    one: 'Thing',
    fields: { id: 'number', ...described },
    links: { Locations: many('Locations', true), HistoricalLocations: many('HistoricalLocations'), Datastreams: many('Datastreams') },
    hints: { id: 'key', name: 'name', 'Locations/location': 'place' },
    orders: ['id', 'name'],
  },
  Locations: {
    set: 'Locations',
    one: 'Location',
    fields: { id: 'number', ...described, encodingType: 'text', location: 'place' },
    links: { Things: many('Things', true), HistoricalLocations: many('HistoricalLocations') },
    hints: { id: 'key', name: 'name', location: 'place' },
    orders: ['id', 'name'],
  },
  HistoricalLocations: {
    set: 'HistoricalLocations',
    one: 'HistoricalLocation',
    fields: { id: 'number', time: 'time' },
    links: { Thing: one('Things'), Locations: many('Locations') },
    hints: {},
    orders: ['id'],
  },
  Datastreams: {
    set: 'Datastreams',
    one: 'Datastream',
    fields: {
      id: 'text',
      ...described,
      observationType: 'text',
      unitOfMeasurement: 'any',
      observedArea: 'place',
      phenomenonTime: 'time',
      resultTime: 'time',
    },
    links: {
      Thing: one('Things'),
      Sensor: one('Sensors'),
      ObservedProperty: one('ObservedProperties'),
      Observations: many('Observations'),
    },
    hints: {
      ...{ id: 'key', name: 'name', 'Thing/id': 'thing', 'Sensor/id': 'thing' },
      ...{ 'ObservedProperty/id': 'parameter', 'ObservedProperty/name': 'parameter' },
    },
    orders: ['id', 'name'],
  },
  Sensors: {
    set: 'Sensors',
    one: 'Sensor',
    fields: { id: 'number', ...described, encodingType: 'text', metadata: 'any' },
    links: { Datastreams: many('Datastreams') },
    hints: { id: 'key', name: 'name' },
    orders: ['id', 'name'],
  },
  ObservedProperties: {
    set: 'ObservedProperties',
    one: 'ObservedProperty',
    fields: { id: 'text', ...described, definition: 'text' },
    links: { Datastreams: many('Datastreams') },
    hints: { id: 'key', name: 'key' },
    orders: ['id', 'name'],
  },
  Observations: {
    set: 'Observations',
    one: 'Observation',
    fields: { id: 'text', phenomenonTime: 'time', resultTime: 'time', result: 'any', parameters: 'any' },
    links: { Datastream: one('Datastreams'), FeatureOfInterest: one('FeaturesOfInterest') },
    hints: { id: 'key', 'Datastream/id': 'datastream', phenomenonTime: 'start', resultTime: 'end' },
    orders: ['phenomenonTime', 'resultTime'],
  },
  FeaturesOfInterest: {
    set: 'FeaturesOfInterest',
    one: 'FeatureOfInterest',
    fields: { id: 'number', ...described, encodingType: 'text', feature: 'place' },
    links: { Observations: many('Observations') },
    hints: { id: 'key' },
    orders: [],
  },
}
