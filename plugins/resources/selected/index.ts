import { definePlugin, PersonalDataSources, provide } from 'pounce/sdk'
import * as routes from './routes.ts'
import { PersonalSelection, selections } from './selections.ts'
export const plugin = definePlugin({
  id: 'resources.selected',
  summary: 'Selected datasets: select several datasets and tag, download or delete them together.',
  provides: [provide(PersonalDataSources, PersonalSelection)],
  routes,
  collections: [selections],
})
