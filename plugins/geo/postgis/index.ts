import { definePlugin, GeoStore, provide, StatusParts } from 'pounce/sdk'
import { config, PostgisPoints } from './postgis-points.ts'
import { PostgisStatus } from './postgis-status.ts'

export const plugin = definePlugin({
  id: 'geo.postgis',
  summary: 'Datapoints of geostreams in PostgreSQL with PostGIS, for one or several kernels.',
  config,
  provides: [provide(GeoStore, PostgisPoints), provide(StatusParts, PostgisStatus)],
})
