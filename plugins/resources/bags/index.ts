import { definePlugin, provide } from 'pounce/sdk'
import { BagDesk, BagTaking } from './bag-desk.ts'
import { BagImport, BagImporting } from './bag-import.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.bags',
  summary: 'Datasets made of BagIt bags: ours, those of Clowder 1.x, and any other valid one.',
  provides: [provide(BagImporting, BagImport), provide(BagTaking, BagDesk)],
  routes,
})
