import { s } from 'pounce/sdk'

export const config = s.Object({
  verifySpaces: s.Boolean({
    default: true,
    description: 'Create spaces as TRIAL, so that they cannot be public before a server admin verifies them; false: as PRIVATE',
  }),
  enablePublic: s.Boolean({
    default: true,
    description: 'List public spaces for everyone; false, as by default in Clowder 1.x: only for members and anonymous callers',
  }),
  requestsPerHour: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of join requests per user and hour',
  }),
  invitationsPerHour: s.Integer({
    default: 100,
    minimum: 1,
    maximum: 10_000,
    description: 'Maximum number of invitations per user and hour',
  }),
  invitationDays: s.Integer({
    default: 30,
    minimum: 1,
    maximum: 400,
    description: 'Lifetime of an invitation, in days',
  }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
