import { definePlugin, Groups, KnownGroups, on, provide } from 'pounce/sdk'
import { groups } from './collection.ts'
import { config } from './config.ts'
import { ConfiguredGroups, GroupsOfSettings } from './configured-groups.ts'
import { EmptyGroup, FollowRole, LeaveSpace } from './handlers.ts'
import { GroupMembers, MembersOfGroups } from './members-of-groups.ts'
import * as groupRoutes from './routes-groups.ts'
import * as memberRoutes from './routes-members.ts'
import * as spaceRoutes from './routes-spaces.ts'
import { AllGroups, StoredGroups } from './stored-groups.ts'

export const plugin = definePlugin({
  id: 'resources.groups',
  summary: 'Groups of people, of this server or of a directory, which hold roles in spaces as people do.',
  config,
  provides: [
    provide(GroupMembers, MembersOfGroups),
    provide(AllGroups, StoredGroups),
    provide(Groups, StoredGroups),
    provide(KnownGroups, StoredGroups),
    provide(GroupsOfSettings, ConfiguredGroups),
  ],
  routes: { ...groupRoutes, ...memberRoutes, ...spaceRoutes },
  collections: [groups],
  handlers: [on('group.removed', EmptyGroup), on('space.removed', LeaveSpace), on('role.removed', FollowRole)],
})
