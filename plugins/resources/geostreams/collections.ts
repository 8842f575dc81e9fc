import { collection, type SensorRecord, type StreamRecord } from 'pounce/sdk'

/** `byAge` and `ageBy…`: by id, which is the order they were made in. */
const lists = {
  byAge: { on: ['state'] },
  byName: { on: ['state', 'name'] },
  byAuthor: { on: ['state', 'author', 'name'] },
  bySpace: { on: ['state', 'spaces', 'name'], array: 'spaces' },
  byCell: { on: ['state', 'cells', 'name'], array: 'cells' },
  ageByAuthor: { on: ['state', 'author'] },
  ageBySpace: { on: ['state', 'spaces'], array: 'spaces' },
  ageByCell: { on: ['state', 'cells'], array: 'cells' },
}

/** Sensors; ids from `sensorIdOf`. */
export const sensors = collection<SensorRecord>('sensors', { ...lists, bySource: { on: ['state', 'source', 'name'] } })

/** Streams; ids from `streamIdOf`. */
export const streams = collection<StreamRecord>('streams', {
  ...lists,
  bySensor: { on: ['state', 'sensor', 'name'] },
  ageBySensor: { on: ['state', 'sensor'] },
})

/** The next number of each kind; the id is the kind in words. */
export interface NumbersRecord {
  readonly next: number
}
export const geoNumbers = collection<NumbersRecord>('geo-numbers')
