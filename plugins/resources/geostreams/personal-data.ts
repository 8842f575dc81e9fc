import { event, personalRecords, transferred } from 'pounce/sdk'
import { sensors, streams } from './collections.ts'

export const PersonalSensors = personalRecords({
  name: 'sensors',
  summary: 'Sensors that you created.',
  in: sensors,
  isOf: ({ author }, { id }) => author === id,
  show: ({ id, name, created, properties }) => ({ id, name, created, properties }),
  erase: transferred(id => [event('sensor.updated', { kind: 'sensor', id }, { fields: ['author'] })]),
})

/** A stream has the author of its sensor besides its creator. */
export const PersonalStreams = personalRecords({
  name: 'streams',
  summary: 'Streams of sensors that you created.',
  in: streams,
  isOf: ({ author, creator }, { id }) => author === id || creator === id,
  show: ({ id, name, created, properties, creator }, person) => (creator === person.id ? { id, name, created, properties } : { id, name }),
  erase: ({ id, author, creator }, { person, heir }) => {
    if (heir === undefined) return undefined
    const set = { ...(author === person.id ? { author: heir } : {}), ...(creator === person.id ? { creator: heir } : {}) }
    return { set, events: [event('stream.updated', { kind: 'stream', id }, { fields: ['author'] })] }
  },
})
