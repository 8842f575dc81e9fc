import { definePlugin, PickLists, provide } from 'pounce/sdk'
import { InstitutionNames, institutions, projects } from './institution-names.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.institutions',
  summary: 'Institutions and projects for user profiles.',
  provides: [provide(PickLists, InstitutionNames)],
  routes,
  collections: [institutions, projects],
})
