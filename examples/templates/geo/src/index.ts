import { definePlugin, GeoStore, provide } from 'pounce/sdk'
import { config, JournalGeo } from './journal-geo.ts'

export const plugin = definePlugin({
  id: 'example.template',
  apiVersion: 1,
  summary: 'Datapoints of geostreams in memory and in a journal.',
  config,
  provides: [provide(GeoStore, JournalGeo)],
})
