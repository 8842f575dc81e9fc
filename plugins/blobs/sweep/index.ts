import { Commands, definePlugin, onBatch, provide } from 'pounce/sdk'
import { config, OrphanSweep, Orphans, SweepCommand } from './orphan-sweep.ts'
import { RemoveBytes } from './remove-bytes.ts'

export const plugin = definePlugin({
  id: 'blobs.sweep',
  summary: 'Removes bytes that no record names: at once when their record goes, by a sweep when a crash left them.',
  config,
  provides: [provide(Orphans, OrphanSweep), provide(Commands, SweepCommand)],
  handlers: [onBatch(['file.removed', 'preview.removed'], RemoveBytes)],
  periodic: [{ name: 'orphans', everyMs: 6 * 60 * 60 * 1000, task: OrphanSweep }],
})
