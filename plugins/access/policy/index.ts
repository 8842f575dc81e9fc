import { definePlugin, Policy, provide, SessionSources } from 'pounce/sdk'
import { config, DownloadCapability, ResourcePolicy } from './resource-policy.ts'

export const plugin = definePlugin({
  id: 'access.policy',
  summary: 'Authorization: rights from authorship, space roles and public flags.',
  config,
  provides: [provide(Policy, ResourcePolicy), provide(SessionSources, DownloadCapability)],
})
