import type { RequestContent } from './request-content.ts'

const feature = { type: 'Feature', geometry: { type: 'Point', coordinates: [8, 47, 0] }, properties: {} }
const reading = { ...feature, start_time: '2020-01-01T00:00:00Z', end_time: '2020-01-01T01:00:00Z', properties: { level: 1 } }

/** States whose ids are not numbers: 400 in bodies of datapoints and in SensorThings URLs. */
const noNumbers = ['other', 'malformed']

/** As in `sent.ts`, for sensors, streams and datapoints. */
export const geostreamSendings: Readonly<Record<string, RequestContent>> = {
  createSensor: { body: { ...feature, name: 'm', spaces: ['$spaces'] }, skips: ['malformed'] },
  updateSensor: { body: feature },
  createStream: { body: { ...feature, name: 'm', sensor_id: '$sensor' } },
  updateStream: { body: { matrix: 1 } },
  createDatapoint: { body: { ...reading, stream_id: '$stream' }, skips: noNumbers },
  createDatapoints: { body: { datapoints: [reading], stream_id: '$stream' }, skips: noNumbers },
  binDatapoints: { with: { time: 'year', depth: '10' } },
  dropGeostreams: { isLast: true },
  // An absent entry is a 401 for an invalid key.
  getCached: { with: { id: 'A'.repeat(32) }, answers: [401], neverHere: 'nothing is kept' },
  getSensorThings: { with: { resource: 'Things($sensor)' }, skips: noNumbers },
  getSensorThingsValue: { with: { entity: "Datastreams('$stream:level')", property: 'name' }, skips: noNumbers },
  getLinkedSensorThingsValue: {
    ...{ with: { entity: "Observations('$datapoint:level')", link: 'Datastream', property: 'name' }, skips: noNumbers },
  },
}
