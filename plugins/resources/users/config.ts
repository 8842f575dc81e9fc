import { s } from 'pounce/sdk'

export const config = s.Object({
  commKey: s.Optional(
    s.String({
      minLength: 16,
      secret: true,
      description:
        'Communication key for extractors, without an account: grants reading and annotating everything, but no administration. Default: none',
    }),
  ),
  previousCommKeys: s.Array(s.String({ minLength: 16 }), {
    default: [],
    maxItems: 10,
    secret: true,
    description: 'Previous values of `commKey`, still accepted while extractors are updated; remove them afterwards',
  }),
  secret: s.Optional(
    s.String({
      minLength: 32,
      secret: true,
      description: 'Secret from which the keys of jobs are derived; generated at the first start by default',
    }),
  ),
  previousSecrets: s.Array(s.String({ minLength: 32 }), {
    default: [],
    maxItems: 10,
    secret: true,
    description: 'Previous values of `secret`; what they signed stays valid. Remove them afterwards',
  }),
  secretOverlapHours: s.Integer({
    default: 168,
    minimum: 0,
    maximum: 8760,
    description:
      'Hours for which the previous secret stays valid after `pounce secret rotate`, if `secret` is not set; at least `jobKeyMaxHours` keeps every job key valid',
  }),
  maxKeyDays: s.Integer({
    default: 0,
    minimum: 0,
    maximum: 36_500,
    description: 'Maximum lifetime of an API key, in days from its creation, including existing keys; 0: no limit',
  }),
  jobKeyMaxHours: s.Integer({
    default: 168,
    minimum: 1,
    maximum: 8760,
    description: 'Maximum lifetime of the key of an extraction job, in hours after the job was sent; it ends earlier with the job',
  }),
  jobKeyGraceMinutes: s.Integer({
    default: 10,
    minimum: 0,
    maximum: 1440,
    description:
      "Grace period of a job's key after the end of the job, in minutes, since statuses can overtake the last upload. Keys of cancelled jobs end at once",
  }),
  sessionIdleDays: s.Integer({ default: 14, minimum: 1, maximum: 400, description: 'Maximum idle time of a session, in days' }),
  sessionMaxDays: s.Integer({ default: 30, minimum: 1, maximum: 400, description: 'Maximum lifetime of a session, in days' }),
  failuresPerAccount: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 1000,
    description:
      'Maximum number of wrong passwords for one account from one address (IPv6: a /64) in 15 minutes; then sign-ins from that address are blocked',
  }),
  failuresPerAccountAnywhere: s.Integer({
    default: 200,
    minimum: 1,
    maximum: 100_000,
    description:
      'Maximum number of wrong passwords for one account from all addresses in 15 minutes; then only addresses that have signed in to it before are allowed',
  }),
  failuresPerAddress: s.Integer({
    default: 100,
    minimum: 1,
    maximum: 100_000,
    description:
      'Maximum number of wrong passwords for all accounts, and of expired sessions, from one address in 15 minutes; owners who have signed in from there before are still allowed',
  }),
  wrongKeysPerAddress: s.Integer({
    default: 20,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of different wrong keys, tokens and links from one address in 15 minutes; valid ones are still accepted',
  }),
  requireSecondFactor: s.Union([s.Literal('nobody'), s.Literal('admins'), s.Literal('everybody')], {
    default: 'nobody',
    description:
      'Local accounts that need a second factor (TOTP or passkey). Without one they can sign in only to enrol one; API keys still work, except for administration',
  }),
  stepUpMinutes: s.Integer({
    default: 15,
    minimum: 0,
    maximum: 1440,
    description:
      'Maximum age of the authentication of a session for creating keys, changing the password and administration, in minutes; 0 disables the check',
  }),
  stepUpForKeys: s.Union([s.Literal('allowed'), s.Literal('refused')], {
    default: 'allowed',
    description: 'Allow API keys and tokens, which cannot reauthenticate, to do what requires a recent authentication of a session',
  }),
  outsideAccounts: s.Union([s.Literal('active'), s.Literal('approval'), s.Literal('none')], {
    default: 'active',
    description:
      'New accounts from a directory or OpenID provider: `active`: created; `approval`: created, pending approval by an admin; `none`: refused',
  }),
  linksByEmail: s.Boolean({
    default: false,
    description:
      'Let an identity with a verified email address open an existing account with the same address, once its owner has confirmed that by email; never the account of a server admin',
  }),
  linkPage: s.Optional(
    s.String({
      pattern: '^/[^\\s?#]*$',
      description:
        'Path of the web page that this email leads to, with `?token=`; the page calls `POST /api/login/link`. Default: the page of the web interface; without one `/api/login/link`',
    }),
  ),
  setUpPage: s.Optional(
    s.String({
      pattern: '^/[^\\s?#]*$',
      description:
        'Path of the web page that the printed setup link leads to, with `?token=`; the page calls `POST /api/setup`. Default: the page of the web interface; without one `/setup`',
    }),
  ),
  defaultGravatar: s.Optional(
    s.String({
      description: 'No effect; accepted for old configurations. Avatars with initials are drawn by this server',
    }),
  ),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
