import { definePlugin, EventSinks, provide, StatusParts, Transports } from 'pounce/sdk'
import { Broker, BrokerPort } from './broker.ts'
import { busJobs } from './bus-jobs.ts'
import { config } from './config.ts'
import { LostQueues } from './lost-queues.ts'
import { outages } from './outages.ts'
import { RabbitSink } from './rabbit-sink.ts'
import { RabbitStatus } from './rabbit-status.ts'
import { RabbitTransport } from './rabbit-transport.ts'

export const plugin = definePlugin({
  id: 'transport.rabbitmq',
  summary: 'Jobs for extractors that listen on RabbitMQ, and facts for its event sink, as Clowder 1.x puts them on the wire.',
  config,
  provides: [
    provide(BrokerPort, Broker),
    provide(Transports, RabbitTransport),
    provide(EventSinks, RabbitSink),
    provide(StatusParts, RabbitStatus),
  ],
  collections: [busJobs, outages],
  periodic: [{ name: 'lost-queues', everyMs: 5 * 60_000, task: LostQueues }],
})
