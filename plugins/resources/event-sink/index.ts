import { definePlugin, onBatch } from 'pounce/sdk'
import { sinkEvents } from './sink-records.ts'
import { TellSinks } from './tell-sinks.ts'

export const plugin = definePlugin({
  id: 'resources.event-sink',
  summary: 'Event sink: tells those who count and bill what was uploaded, downloaded and extracted.',
  handlers: [onBatch(sinkEvents, TellSinks)],
})
