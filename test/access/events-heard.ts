import { type AnyEvent, definePlugin, onBatch, type Plugin, wire } from 'pounce/sdk'

/** A plugin that records all events: refusals must not cause any. */
export const eventsHeard = (): { readonly plugin: Plugin; readonly heard: readonly string[] } => {
  const heard: string[] = []
  class MatrixEar {
    async handleAll(events: readonly AnyEvent[]): Promise<void> {
      for (const { type, id } of events) heard.push(`${type} ${id}`)
    }
  }
  wire(MatrixEar)
  const plugin = definePlugin({ id: 'test.events', summary: 'Receives all events.', handlers: [onBatch('*', MatrixEar, 'matrix-ear')] })
  return { plugin, heard }
}
