import { BackupParts, Commands, definePlugin, GeoStore, provide } from 'pounce/sdk'
import { config, DatapointsBackup, DatapointsDoctor, RtreeGeo } from './rtree-geo.ts'

export const plugin = definePlugin({
  id: 'geo.rtree',
  summary: 'Datapoints of geostreams in one SQLite file in the data folder, with durable group commits and an R*Tree for moving sensors.',
  config,
  keepsLocalData: true,
  provides: [provide(GeoStore, RtreeGeo), provide(BackupParts, DatapointsBackup), provide(Commands, DatapointsDoctor)],
})
