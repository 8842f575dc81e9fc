import { defineResource, event } from 'pounce/sdk'
import type { SensorRecord, StreamRecord } from 'pounce/sdk/geo'
import { createdBy, transferred } from 'pounce/sdk/kit'
import { sensors, streams } from './collections.ts'
import { SearchableSensors, SearchableStreams } from './searchable.ts'

export const sensorResource = defineResource<SensorRecord>({
  kind: 'sensor',
  collection: sensors,
  view: 'ViewGeoStream',
  name: ({ name }) => name,
  // Whether geostreams are public is decided by the policy.
  rights: ({ author, spaces, state }) => ({ author, spaces, isPublic: false, state }),
  search: SearchableSensors,
  personalData: {
    name: 'sensors',
    summary: 'Sensors that you created.',
    ...createdBy<SensorRecord>('name', 'created', 'properties'),
    erase: transferred(id => [event('sensor.updated', { kind: 'sensor', id }, { fields: ['author'] })]),
  },
})

export const streamResource = defineResource<StreamRecord>({
  kind: 'stream',
  collection: streams,
  view: 'ViewGeoStream',
  name: ({ name }) => name,
  // A stream has the current rights of its sensor; its creator has none beyond these.
  rights: ({ sensor, state }) => ({ author: '', spaces: [], isPublic: false, state, parents: [{ kind: 'sensor', id: sensor }] }),
  search: SearchableStreams,
  // A stream has two authors: its creator and that of its sensor.
  personalData: {
    name: 'streams',
    summary: 'Streams of sensors that you created.',
    isOf: ({ author, creator }, { id }) => author === id || creator === id,
    show: ({ id, name, created, properties, creator }, person) =>
      creator === person.id ? { id, name, created, properties } : { id, name },
    erase: ({ id, author, creator }, { person, heir }) => {
      if (heir === undefined) return undefined
      const set = { ...(author === person.id ? { author: heir } : {}), ...(creator === person.id ? { creator: heir } : {}) }
      return { set, events: [event('stream.updated', { kind: 'stream', id }, { fields: ['author'] })] }
    },
  },
})
