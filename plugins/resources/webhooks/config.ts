import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  maxPerOwner: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of webhooks per user, per space, and of the server',
  }),
  timeoutMs: s.Integer({ default: 10_000, minimum: 100, maximum: 60_000, description: 'Response timeout of a delivery, in milliseconds' }),
  maxConcurrent: s.Integer({
    default: 64,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of deliveries in progress; a quarter for the webhooks of one user',
  }),
  maxConcurrentPerTarget: s.Integer({
    default: 8,
    minimum: 1,
    maximum: 32,
    description: 'Maximum number of deliveries in progress to one host and port',
  }),
  retryDays: s.Number({
    default: 3,
    minimum: 0.001,
    maximum: 30,
    description: 'Time after which a delivery that keeps failing becomes a dead letter, in days',
  }),
  pauseAfterDays: s.Number({
    default: 7,
    minimum: 0.001,
    maximum: 365,
    description: 'Time without any successful delivery after which a webhook is paused and its owner is notified, in days',
  }),
  maxWaiting: s.Integer({
    default: 100_000,
    minimum: 100,
    maximum: 10_000_000,
    description: 'Number of waiting deliveries at which a webhook is paused',
  }),
  keptDays: s.Number({
    default: 14,
    minimum: 0.01,
    maximum: 3650,
    description: 'Time for which the delivery log keeps deliveries that have ended, in days',
  }),
  rotationHours: s.Number({
    default: 24,
    minimum: 0,
    maximum: 24 * 365,
    description: 'Time for which deliveries are also signed with the previous secret after a rotation, in hours',
  }),
})
export type Settings = s.Static<typeof config>
export const Config = configPort(config)
