import { type AnyEvent, definePlugin, onBatch, type Plugin, wire } from 'pounce/sdk'

/** A plugin that records all events: refusals must not cause any. */
export const recordEvents = (): { readonly plugin: Plugin; readonly received: readonly string[] } => {
  const received: string[] = []
  class MatrixEar {
    async handleAll(events: readonly AnyEvent[]): Promise<void> {
      for (const { type, id } of events) received.push(`${type} ${id}`)
    }
  }
  wire(MatrixEar)
  const plugin = definePlugin({ id: 'test.events', summary: 'Receives all events.', handlers: [onBatch('*', MatrixEar, 'matrix-ear')] })
  return { plugin, received }
}
