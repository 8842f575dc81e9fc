import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  uri: s.String({
    default: 'amqp://guest:guest@127.0.0.1:5672/%2f',
    minLength: 1,
    secret: true,
    description: 'Broker URI: `amqp://user:password@host:port/vhost` or `amqps://…`; the vhost is percent-encoded',
  }),
  exchange: s.String({
    default: 'clowder',
    maxLength: 255,
    description:
      'Topic exchange that old extractors (pyclowder 2) bind their queues to; empty: no exchange is declared and no bindings are read',
  }),
  managementUrl: s.Optional(
    s.String({
      secret: true,
      description: "URL of the broker's management plugin. Default: `http://<host of the broker>:15672` with the same account",
    }),
  ),
  primary: s.Boolean({ default: true, description: 'Receive heartbeats and register the extractors that send them' }),
  eventSink: s.Object(
    {
      exchange: s.String({ default: 'clowder.metrics', minLength: 1, maxLength: 255, description: 'Fanout exchange of the event sink' }),
      queue: s.String({
        default: '',
        maxLength: 255,
        description: 'Queue to declare and bind to it, such as `event.sink`; empty: consumers declare their own',
      }),
    },
    { default: {} },
  ),
  prefetch: s.Integer({
    default: 100,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of extractor replies processed concurrently',
  }),
  maxUnconfirmed: s.Integer({
    formerName: 'mostUnconfirmed',
    default: 500,
    minimum: 1,
    maximum: 50_000,
    description: 'Maximum number of unconfirmed messages',
  }),
  heartbeatSeconds: s.Integer({
    default: 5,
    minimum: 1,
    maximum: 600,
    description: 'Heartbeat interval, in seconds; after two to three times this long without one the connection is reopened',
  }),
  timeoutMs: s.Integer({
    default: 5000,
    minimum: 100,
    description: 'Timeout for connecting to the broker and for its responses, in milliseconds',
  }),
  leaseMs: s.Integer({
    default: 30_000,
    minimum: 1000,
    description: 'Lease of unsent messages, in milliseconds; then another server sends them',
  }),
  sweepMs: s.Integer({ default: 2000, minimum: 10, description: 'Interval of checking for jobs left unsent by a crash, in milliseconds' }),
  cancelSearchMs: s.Integer({
    default: 500,
    minimum: 10,
    description: 'Timeout for finding a cancelled job in its queue, in milliseconds',
  }),
})
export type RabbitConfig = s.Static<typeof config>
export const Config = configPort(config)
