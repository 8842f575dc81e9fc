import { Broadcasters, definePlugin, EventSinks, onBatch, provide, StatusParts, Transports } from 'pounce/sdk'
import { RabbitStatus } from './broker.ts'
import { busJobs } from './bus-jobs.ts'
import { config } from './config.ts'
import { outages } from './downtime-log.ts'
import { RabbitBroadcaster } from './rabbit-broadcaster.ts'
import { DeleteDeadLettersOnTargetRemoved } from './rabbit-job-repository.ts'
import { RabbitSink } from './rabbit-sink.ts'
import { RabbitTransport } from './rabbit-transport.ts'
import { LostQueues } from './unsent-jobs.ts'

export const plugin = definePlugin({
  id: 'transport.rabbitmq',
  summary: 'Extraction jobs for extractors on RabbitMQ, and messages of the event sink, in the format of Clowder 1.x.',
  config,
  provides: [
    provide(Broadcasters, RabbitBroadcaster),
    provide(Transports, RabbitTransport),
    provide(EventSinks, RabbitSink),
    provide(StatusParts, RabbitStatus),
  ],
  collections: [busJobs, outages],
  handlers: [onBatch(['file.removed', 'dataset.removed'], DeleteDeadLettersOnTargetRemoved, 'follow-target')],
  periodic: [{ name: 'lost-queues', everyMs: 5 * 60_000, task: LostQueues }],
})
