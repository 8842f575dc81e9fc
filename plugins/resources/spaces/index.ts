import { definePlugin, NameFinders, on, PersonalDataSources, provide, SessionSources, Spaces } from 'pounce/sdk'
import { config } from './config.ts'
import { AcceptInvitationsOnSignUp, DeleteJoinRequestOnMembership, RemoveMembersOnSpaceRemoved, SpaceExpiry } from './handlers.ts'
import { InvitationRateLimit, quotas } from './invitation-rate-limit.ts'
import { Invitations, invitations } from './invitations.ts'
import { PendingCounts } from './pending-counts.ts'
import { PersonalInvitations, PersonalInvitationsSent, PersonalQuotas } from './personal-data.ts'
import { spaceResource } from './resource.ts'
import * as routes from './routes.ts'
import * as invitationRoutes from './routes-invitations.ts'
import * as memberRoutes from './routes-members.ts'
import { InvitationMail, SpaceMail } from './space-mail.ts'
import { SpaceNames } from './space-names.ts'
import { StoredSpaces } from './stored-spaces.ts'

const hourMs = 3_600_000

export const plugin = definePlugin({
  id: 'resources.spaces',
  summary: 'Spaces: members with roles, and what they share.',
  config,
  resources: [spaceResource],
  provides: [
    provide(Spaces, StoredSpaces),
    provide(NameFinders, SpaceNames),
    provide(PersonalDataSources, PersonalInvitations),
    provide(PersonalDataSources, PersonalInvitationsSent),
    provide(PersonalDataSources, PersonalQuotas),
    provide(SessionSources, PendingCounts),
  ],
  routes: { ...routes, ...memberRoutes, ...invitationRoutes },
  collections: [invitations, quotas],
  handlers: [
    on('space.removed', RemoveMembersOnSpaceRemoved, 'release-members'),
    on('space.member-changed', DeleteJoinRequestOnMembership, 'forget-request'),
    on(['user.created', 'user.updated'], AcceptInvitationsOnSignUp, 'welcome-invited'),
    on(
      ['space.member-changed', 'space.join-requested', 'space.request-rejected', 'space.verified', 'space.removed'],
      SpaceMail,
      'space-mail',
    ),
    on('space.invited', InvitationMail, 'invitation-mail'),
  ],
  migrations: new URL('./migrations/', import.meta.url),
  periodic: [
    { name: 'expiry', everyMs: hourMs, task: SpaceExpiry },
    { name: 'forget-invitations', everyMs: hourMs, task: Invitations },
    { name: 'forget-quotas', everyMs: hourMs, task: InvitationRateLimit },
  ],
})
