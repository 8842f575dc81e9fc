import { configPort, s } from 'pounce/sdk'
import { capabilitiesBy } from 'pounce/sdk/kit'

export const config = s.Object({
  heartbeatSeconds: s.Integer({
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'Interval of heartbeats in streams without events, in seconds; credentials are checked again at each',
  }),
  retrySeconds: s.Number({
    default: 2,
    minimum: 0.1,
    maximum: 300,
    description: 'Time after which clients reconnect to a stream that has ended, in seconds',
  }),
  maxStreams: s.Integer({ default: 10_000, minimum: 1, maximum: 1_000_000, description: 'Maximum number of open streams of this server' }),
  maxStreamsPerCaller: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 1_000_000,
    description: 'Maximum number of open streams per account and server; anonymous callers of one network count together',
  }),
  maxPendingBytes: s.Integer({
    default: 1024 * 1024,
    minimum: 4096,
    maximum: 1024 * 1024 * 1024,
    description: 'Bytes that may wait for a slow client before its stream is cut; it continues from the log when it reconnects',
  }),
  maxEvents: s.Integer({
    default: 100_000,
    minimum: 100,
    maximum: 100_000_000,
    description: 'Number of events that the log keeps for clients that reconnect',
  }),
  maxAgeHours: s.Number({
    default: 24,
    minimum: 0.01,
    maximum: 24 * 365,
    description: 'Time for which the log keeps events for clients that reconnect, in hours',
  }),
  pollMs: s.Integer({
    default: 200,
    minimum: 10,
    maximum: 60_000,
    description:
      'Interval at which the log is read for events of other servers while streams are open and no broker announces them, in milliseconds',
  }),
})
export type Settings = s.Static<typeof config>

export const LiveCapability = capabilitiesBy(configPort(config), () => ({ live: '/api/live' }))
