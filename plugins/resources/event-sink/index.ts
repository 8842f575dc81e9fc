import { definePlugin, onBatch } from 'pounce/sdk'
import { SendToSinks, sinkEvents } from './sink-records.ts'

export const plugin = definePlugin({
  id: 'resources.event-sink',
  summary: 'Event sink: publishes uploads, downloads and extractions for usage statistics and billing.',
  isSwitchable: true,
  handlers: [onBatch(sinkEvents, SendToSinks, 'tell-sinks')],
})
