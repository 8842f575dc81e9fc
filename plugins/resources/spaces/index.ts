import { definePlugin, on, provide, ReportSources, RightsOf, Spaces, TreeBranches } from 'pounce/sdk'
import { spaces } from './collection.ts'
import { config } from './config.ts'
import { ForgetRequest, ReleaseMembers, WelcomeInvited } from './handlers.ts'
import { InvitationMail } from './invitation-mail.ts'
import { invitations } from './invitation-record.ts'
import { Invitations, SpaceInvitations } from './invitations.ts'
import { JoinRequests, Requests } from './join-requests.ts'
import { MemberList, SpaceMemberList } from './member-list.ts'
import { Members, SpaceMembers } from './members.ts'
import { Quota, Quotas, quotas } from './quota.ts'
import { SpaceSource } from './report-source.ts'
import * as routes from './routes.ts'
import * as invitationRoutes from './routes-invitations.ts'
import * as memberRoutes from './routes-members.ts'
import * as requestRoutes from './routes-requests.ts'
import { SpaceBranch } from './space-branch.ts'
import { SpaceExpiry } from './space-expiry.ts'
import { SpaceLife, SpaceLifes } from './space-life.ts'
import { SpaceListings, SpaceLists } from './space-lists.ts'
import { SpaceMail } from './space-mail.ts'
import { SpaceRights } from './space-rights.ts'
import { StoredSpaces } from './stored-spaces.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.spaces',
  summary: 'Spaces: groups of people with roles, and what they share.',
  config,
  provides: [
    provide(Spaces, StoredSpaces),
    provide(SpaceLifes, SpaceLife),
    provide(SpaceListings, SpaceLists),
    provide(SpaceMembers, Members),
    provide(SpaceMemberList, MemberList),
    provide(Quotas, Quota),
    provide(Requests, JoinRequests),
    provide(SpaceInvitations, Invitations),
    provide(TreeBranches, SpaceBranch),
    provide(RightsOf, SpaceRights),
    provide(ReportSources, SpaceSource),
  ],
  routes: { ...routes, ...memberRoutes, ...requestRoutes, ...invitationRoutes },
  collections: [spaces, invitations, quotas],
  handlers: [
    on('space.removed', ReleaseMembers),
    on('space.member-changed', ForgetRequest),
    on(['user.created', 'user.updated'], WelcomeInvited),
    on(['space.member-changed', 'space.join-requested', 'space.request-rejected', 'space.verified', 'space.removed'], SpaceMail),
    on('space.invited', InvitationMail),
  ],
  periodic: [
    { name: 'expiry', everyMs: hourMs, task: SpaceExpiry },
    { name: 'forget-invitations', everyMs: hourMs, task: Invitations },
    { name: 'forget-quotas', everyMs: hourMs, task: Quota },
  ],
})
