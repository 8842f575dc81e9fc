import { definePlugin, Policy, provide } from 'pounce/sdk'
import { config, ResourcePolicy } from './resource-policy.ts'

export const plugin = definePlugin({
  id: 'access.policy',
  summary: 'Who may do what: rights from authorship, roles in spaces and public flags.',
  config,
  provides: [provide(Policy, ResourcePolicy)],
})
