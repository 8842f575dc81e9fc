import { definePlugin, Policy, provide, ReadAccess, SessionSources } from 'pounce/sdk'
import { config, DownloadCapability, ResourcePolicy } from './resource-policy.ts'
import * as routes from './routes.ts'
import { readAccess, StoredReadAccess } from './stored-read-access.ts'

export const plugin = definePlugin({
  id: 'access.policy',
  summary: 'Authorization: rights from authorship, space roles and public flags.',
  config,
  routes,
  collections: [readAccess],
  provides: [provide(Policy, ResourcePolicy), provide(ReadAccess, StoredReadAccess), provide(SessionSources, DownloadCapability)],
})
