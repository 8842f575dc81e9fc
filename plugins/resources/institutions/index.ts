import { definePlugin, PickLists, provide } from 'pounce/sdk'
import { institutions, projects } from './collection.ts'
import { KnownNames, Names } from './known-names.ts'
import * as routes from './routes.ts'

export const plugin = definePlugin({
  id: 'resources.institutions',
  summary: 'Institutions and projects: names that people can pick for their profiles.',
  provides: [provide(Names, KnownNames), provide(PickLists, KnownNames)],
  routes,
  collections: [institutions, projects],
})
