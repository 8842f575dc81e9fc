import { definePlugin, on } from 'pounce/sdk'
import { webContribution } from 'pounce/sdk/kit'
import { instrumentResource, RemoveInstruments } from './instruments.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'example.own-kind',
  summary: 'Instruments: a kind of resource defined by a plugin, in spaces.',
  permissions: {
    ViewInstrument: { description: 'View instruments', verb: 'read', roles: ['Viewer', 'Editor', 'Admin'], isReading: true },
    EditInstrument: { description: 'Add, change and delete instruments', verb: 'write', roles: ['Editor', 'Admin'] },
  },
  resources: [instrumentResource],
  provides: [
    webContribution({
      id: 'example.own-kind.page',
      kind: 'page',
      title: { en: 'Instrument', de: 'Gerät' },
      module: new URL('./instrument.js', import.meta.url),
      of: ['instrument'],
      texts: {
        en: { model: 'Model', description: 'Description', none: 'Open an instrument from the search' },
        de: { model: 'Modell', description: 'Beschreibung', none: 'Öffnen Sie ein Gerät aus der Suche' },
      },
    }),
  ],
  routes,
  handlers: [on('space.removed', RemoveInstruments, 'remove-instruments')],
})
