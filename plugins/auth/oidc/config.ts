import { configPort, s } from 'pounce/sdk'

const claim = (name: string, holds: string) => s.String({ default: name, minLength: 1, description: `Claim that holds ${holds}` })

const provider = s.Object({
  label: s.String({ minLength: 1, maxLength: 100, description: 'What people read who choose where to sign in' }),
  issuer: s.String({
    pattern: '^https?://[^\\s?#@]+$',
    description: 'Address of the provider as it writes it itself; plain http on this machine only',
  }),
  clientId: s.String({ minLength: 1, description: 'Who we are at the provider' }),
  clientSecret: s.Optional(s.String({ minLength: 1, secret: true, description: 'Belongs to `clientId`. Default: a public client' })),
  clientAuthentication: s.Union([s.Literal('basic'), s.Literal('post')], {
    default: 'basic',
    description: 'How the secret is sent: in a header, or in the body',
  }),
  scopes: s.Array(s.String({ pattern: '^\\S+$' }), { default: ['openid', 'profile', 'email'], description: 'What is asked for' }),
  parameters: s.Record(s.String(), s.String(), {
    default: {},
    description: 'Sent along when a browser is sent to the provider, such as `selected_idp`',
  }),
  alsoAt: s.Array(s.String({ pattern: '^https?://[^\\s/?#@]+$' }), {
    default: [],
    description: 'Further servers on which the provider may have its endpoints, such as `https://oauth2.googleapis.com`',
  }),
  emailClaim: claim('email', 'the e-mail address; the same with `_verified` says whether it was checked'),
  firstNameClaim: claim('given_name', 'the first name'),
  lastNameClaim: claim('family_name', 'the last name'),
  groupsClaim: claim('groups', 'the groups of a person; dots lead into objects, such as `realm_access.roles`'),
  onlyGroups: s.Array(s.String({ minLength: 1 }), {
    default: [],
    description: 'Only members of one of these groups may sign in. Default: everybody',
  }),
  trustsEmail: s.Boolean({
    default: false,
    description: 'Every e-mail address of the provider was checked, though it does not say so of each',
  }),
  audience: s.Optional(
    s.String({
      minLength: 1,
      description: 'Programs may send access tokens of the provider that are meant for this audience. Default: none',
    }),
  ),
})

export const config = s.Object({
  providers: s.Record(s.String(), provider, {
    default: {},
    description:
      'Where people can sign in, any number. The name (lower-case letters, digits and dashes) is part of addresses, and what accounts remember: never change it',
  }),
  algorithms: s.Array(s.String({ pattern: '^([RPE]S(256|384|512)|EdDSA|Ed25519)$' }), {
    default: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
    minItems: 1,
    description: 'How tokens may be signed: with keys that the provider publishes, never with a shared secret',
  }),
  timeoutMs: s.Integer({ default: 5000, minimum: 100, description: 'How long a provider may take for one answer' }),
  refetchKeysAfterMs: s.Integer({
    default: 10_000,
    minimum: 0,
    description: 'Keys of a provider that are not known are looked for at most this often',
  }),
})
export type OidcConfig = s.Static<typeof config>
/** One provider, with its name. */
export type ProviderConfig = s.Static<typeof provider> & { readonly name: string }
export const Config = configPort(config)
