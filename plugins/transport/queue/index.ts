import { definePlugin, onBatch, provide, Transports } from 'pounce/sdk'
import { config } from './config.ts'
import { DeleteDeadLettersOnTargetRemoved } from './job-repository.ts'
import { jobs } from './jobs.ts'
import { QueueTransport } from './queue-transport.ts'

export const plugin = definePlugin({
  id: 'transport.queue',
  summary: 'Extraction jobs in the document store; built-in extractors run in sandboxed child processes with limits.',
  config,
  provides: [provide(Transports, QueueTransport)],
  collections: [jobs],
  handlers: [onBatch(['file.removed', 'dataset.removed'], DeleteDeadLettersOnTargetRemoved, 'follow-target')],
})
