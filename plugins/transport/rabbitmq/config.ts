import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  uri: s.String({
    default: 'amqp://guest:guest@127.0.0.1:5672/%2f',
    minLength: 1,
    secret: true,
    description: 'The broker, as `amqp://user:password@host:port/vhost` or `amqps://…`; the vhost is percent-encoded',
  }),
  exchange: s.String({
    default: 'clowder',
    maxLength: 255,
    description: 'Topic exchange to which old extractors (pyclowder 2) bind their queues; empty: none is declared, no bindings are read',
  }),
  managementUrl: s.Optional(
    s.String({
      secret: true,
      description: "Address of the broker's management plugin; `http://<host of the broker>:15672` with the same account unless said",
    }),
  ),
  primary: s.Boolean({ default: true, description: 'Hear heartbeats and register the extractors that send them' }),
  eventSink: s.Object(
    {
      exchange: s.String({ default: 'clowder.metrics', minLength: 1, maxLength: 255, description: 'Fanout exchange for facts to count' }),
      queue: s.String({
        default: '',
        maxLength: 255,
        description: 'Queue to declare and bind to it, such as `event.sink`; empty: consumers declare their own',
      }),
    },
    { default: {} },
  ),
  prefetch: s.Integer({ default: 100, minimum: 1, maximum: 10_000, description: 'Replies of extractors that are dealt with at once' }),
  mostUnconfirmed: s.Integer({
    default: 500,
    minimum: 1,
    maximum: 50_000,
    description: 'Messages on their way to the broker at once that it has not confirmed',
  }),
  heartbeatSeconds: s.Integer({
    default: 5,
    minimum: 1,
    maximum: 600,
    description: 'A broker that is silent for two to three times this long is given up and connected to anew',
  }),
  timeoutMs: s.Integer({ default: 5000, minimum: 100, description: 'Milliseconds to wait for a connection or an answer of the broker' }),
  leaseMs: s.Integer({ default: 30_000, minimum: 1000, description: 'Milliseconds after which another kernel sends what this one held' }),
  sweepMs: s.Integer({ default: 2000, minimum: 10, description: 'Milliseconds between looks for jobs that a crash left unsent' }),
  cancelSearchMs: s.Integer({ default: 500, minimum: 10, description: 'Milliseconds to look for a job in its queue when it is cancelled' }),
})
export type RabbitConfig = s.Static<typeof config>
export const Config = configPort(config)
