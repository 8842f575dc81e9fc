import { definePlugin, GeoStore, provide, StatusParts } from 'pounce/sdk'
import { PostgisStatus } from './postgis-connection.ts'
import { config, PostgisPoints } from './postgis-points.ts'

export const plugin = definePlugin({
  id: 'geo.postgis',
  summary: 'Datapoints of geostreams in PostgreSQL with PostGIS, for one server or several.',
  config,
  provides: [provide(GeoStore, PostgisPoints), provide(StatusParts, PostgisStatus)],
})
