import { s } from 'pounce/sdk'

export const config = s.Object({
  verifySpaces: s.Boolean({
    default: true,
    description: 'A new space is TRIAL, so that nobody can make it public before a server admin has verified it; false: it is PRIVATE',
  }),
  enablePublic: s.Boolean({
    default: true,
    description:
      'Lists show public spaces to everybody; false, as by default in Clowder 1.x: only to members, and to those who are not signed in',
  }),
  requestsPerHour: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 10_000,
    description: 'Spaces that one person can ask to join in an hour',
  }),
  invitationsPerHour: s.Integer({
    default: 100,
    minimum: 1,
    maximum: 10_000,
    description: 'People whom one person can invite into spaces in an hour',
  }),
  invitationDays: s.Integer({
    default: 30,
    minimum: 1,
    maximum: 400,
    description: 'An invitation that nobody accepts ends after so many days',
  }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
