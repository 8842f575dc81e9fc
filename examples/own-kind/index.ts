import { definePlugin, on } from 'pounce/sdk'
import { instrumentResource, RemoveInstruments } from './instruments.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'example.own-kind',
  summary: 'Instruments: a kind of resource of its own, in spaces.',
  permissions: {
    ViewInstrument: { description: 'Look at instruments', verb: 'read', roles: ['Viewer', 'Editor', 'Admin'], isReading: true },
    EditInstrument: { description: 'Add, change and delete instruments', verb: 'write', roles: ['Editor', 'Admin'] },
  },
  resources: [instrumentResource],
  routes,
  handlers: [on('space.removed', RemoveInstruments, 'remove-instruments')],
})
