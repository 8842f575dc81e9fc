import { Commands, definePlugin, onBatch, provide } from 'pounce/sdk'
import { beginnings, config, DeleteUnreferencedBlobs, OrphanSweep, RecordFirstStart, SweepCommand, SweepDoctor } from './orphan-sweep.ts'

export const plugin = definePlugin({
  id: 'blobs.sweep',
  summary: 'Deletes unreferenced file contents: at once when their record is deleted, or by a sweep after a crash.',
  config,
  collections: [beginnings],
  services: [RecordFirstStart],
  provides: [provide(Commands, SweepCommand), provide(Commands, SweepDoctor)],
  handlers: [onBatch(['file.removed', 'preview.removed'], DeleteUnreferencedBlobs, 'remove-bytes')],
  periodic: [{ name: 'orphans', everyMs: 6 * 60 * 60 * 1000, task: OrphanSweep }],
})
