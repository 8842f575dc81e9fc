import { definePlugin, Groups, KnownGroups, on, PersonalDataSources, provide } from 'pounce/sdk'
import { groups, PersonalGroups } from './collection.ts'
import { config } from './config.ts'
import { ConfiguredGroups } from './configured-groups.ts'
import { DeleteMembershipsOnGroupRemoved, DetachGroupsOnSpaceRemoved, ReplaceGroupRoleOnRoleRemoved } from './handlers.ts'
import * as groupRoutes from './routes-groups.ts'
import { StoredGroups } from './stored-groups.ts'

export const plugin = definePlugin({
  id: 'resources.groups',
  summary: 'Groups of users, local or from a directory, with roles in spaces.',
  config,
  provides: [provide(Groups, StoredGroups), provide(KnownGroups, StoredGroups), provide(PersonalDataSources, PersonalGroups)],
  services: [ConfiguredGroups],
  routes: groupRoutes,
  collections: [groups],
  handlers: [
    on('group.removed', DeleteMembershipsOnGroupRemoved, 'empty-group'),
    on('space.removed', DetachGroupsOnSpaceRemoved, 'leave-space'),
    on('role.removed', ReplaceGroupRoleOnRoleRemoved, 'follow-role'),
  ],
})
