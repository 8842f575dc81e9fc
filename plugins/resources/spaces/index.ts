import { definePlugin, on, provide, ReportSources, RightsOf, Spaces, TreeBranches } from 'pounce/sdk'
import { spaces } from './collection.ts'
import { ReleaseMembers } from './handlers.ts'
import { Members, SpaceMembers } from './members.ts'
import { SpaceSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as memberRoutes from './routes-members.ts'
import { SpaceBranch } from './space-branch.ts'
import { SpaceExpiry } from './space-expiry.ts'
import { config, SpaceLife, SpaceLifes } from './space-life.ts'
import { SpaceListings, SpaceLists } from './space-lists.ts'
import { SpaceMail } from './space-mail.ts'
import { SpaceRights } from './space-rights.ts'
import { StoredSpaces } from './stored-spaces.ts'

export const plugin = definePlugin({
  id: 'resources.spaces',
  summary: 'Spaces: groups of people with roles, and what they share.',
  config,
  provides: [
    provide(Spaces, StoredSpaces),
    provide(SpaceLifes, SpaceLife),
    provide(SpaceListings, SpaceLists),
    provide(SpaceMembers, Members),
    provide(TreeBranches, SpaceBranch),
    provide(RightsOf, SpaceRights),
    provide(ReportSources, SpaceSource),
  ],
  routes: { ...routes, ...memberRoutes },
  collections: [spaces],
  handlers: [
    on('space.removed', ReleaseMembers),
    on(['space.member-changed', 'space.request-rejected', 'space.verified', 'space.removed'], SpaceMail),
  ],
  periodic: [{ name: 'expiry', everyMs: 60 * 60 * 1000, task: SpaceExpiry }],
})
