import { s } from 'pounce/sdk'

export const config = s.Object({
  commKey: s.Optional(
    s.String({
      minLength: 16,
      secret: true,
      description: 'A key for extractors that belongs to nobody: reads and annotates everything, administers nothing. None by default',
    }),
  ),
  secret: s.Optional(
    s.String({
      minLength: 32,
      secret: true,
      description: 'What extraction keys are derived from; made at the first start when it is not set',
    }),
  ),
  sessionIdleDays: s.Integer({ default: 14, minimum: 1, maximum: 400, description: 'A session that is not used for so many days ends' }),
  sessionMaxDays: s.Integer({ default: 30, minimum: 1, maximum: 400, description: 'Every session ends after so many days' }),
  failuresPerAccount: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description: 'Wrong passwords for one account from one address (IPv6: a /64) in 15 minutes before its door is shut to that address',
  }),
  failuresPerAccountAnywhere: s.Integer({
    default: 200,
    minimum: 1,
    maximum: 100_000,
    description:
      'Wrong passwords for one account from everywhere in 15 minutes before only addresses are let on that have signed in to it before',
  }),
  failuresPerAddress: s.Integer({
    default: 100,
    minimum: 1,
    maximum: 100_000,
    description: 'Wrong passwords for all accounts together, and sessions that are over, from one address in 15 minutes',
  }),
  wrongKeysPerAddress: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 100_000,
    description: 'Different wrong keys, tokens and links from one address in 15 minutes; right ones go on working',
  }),
  outsideAccounts: s.Union([s.Literal('active'), s.Literal('approval'), s.Literal('none')], {
    default: 'active',
    description:
      'What people get who sign in through a directory or an OpenID provider for the first time: `active`: an account; `approval`: one that an admin has to activate; `none`: a refusal',
  }),
  linksByEmail: s.Boolean({
    default: true,
    description:
      'Whoever signs in elsewhere with an e-mail address that was verified there opens the account that has this address already',
  }),
  defaultGravatar: s.String({ default: 'identicon', pattern: '^[a-z]+$', description: 'What Gravatar draws for people without a picture' }),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
