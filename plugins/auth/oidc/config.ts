import { configPort, s } from 'pounce/sdk'

const claim = (name: string, holds: string) => s.String({ default: name, minLength: 1, description: `Claim with ${holds}` })

const provider = s.Object({
  label: s.String({ minLength: 1, maxLength: 100, description: 'Label on the sign-in page' }),
  issuer: s.String({
    pattern: '^https?://[^\\s?#@]+$',
    description: 'Issuer URL of the provider, exactly as the provider states it; plain http on this machine only',
  }),
  clientId: s.String({ minLength: 1, description: 'OAuth client id' }),
  clientSecret: s.Optional(s.String({ minLength: 1, secret: true, description: 'OAuth client secret. Default: a public client' })),
  clientAuthentication: s.Union([s.Literal('basic'), s.Literal('post')], {
    default: 'basic',
    description: 'How the client secret is sent: in a header or in the body',
  }),
  scopes: s.Array(s.String({ pattern: '^\\S+$' }), { default: ['openid', 'profile', 'email'], description: 'OAuth scopes to request' }),
  parameters: s.Record(s.String(), s.String(), {
    default: {},
    description: 'Extra parameters of the authorization request, such as `selected_idp`',
  }),
  alsoAt: s.Array(s.String({ pattern: '^https?://[^\\s/?#@]+$' }), {
    default: [],
    description: 'Other servers that may host endpoints of the provider, such as `https://oauth2.googleapis.com`',
  }),
  emailClaim: claim('email', 'the email address; the claim with the suffix `_verified` says whether it is verified'),
  firstNameClaim: claim('given_name', 'the first name'),
  lastNameClaim: claim('family_name', 'the last name'),
  groupsClaim: claim('groups', 'the groups of a person; a dot is a path into objects, such as `realm_access.roles`'),
  onlyGroups: s.Array(s.String({ minLength: 1 }), {
    default: [],
    description: 'Only members of one of these groups may sign in. Default: everyone',
  }),
  trustsEmail: s.Boolean({
    default: false,
    description: 'All email addresses of the provider are verified, even without the claim `email_verified`',
  }),
  audience: s.Optional(
    s.String({
      minLength: 1,
      description: 'Accept access tokens of the provider with this audience as API credentials. Default: none',
    }),
  ),
})

export const config = s.Object({
  providers: s.Record(s.String(), provider, {
    default: {},
    description:
      'Sign-in providers by name. The name (lower-case letters, digits and dashes) is part of URLs and stored in accounts: never change it',
  }),
  algorithms: s.Array(s.String({ pattern: '^([RPE]S(256|384|512)|EdDSA|Ed25519)$' }), {
    default: ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'],
    minItems: 1,
    description: 'Accepted signature algorithms of tokens: with keys published by the provider, never with a shared secret',
  }),
  timeoutMs: s.Integer({ default: 5000, minimum: 100, description: 'Response timeout of a provider, in milliseconds' }),
  refetchKeysAfterMs: s.Integer({
    default: 10_000,
    minimum: 0,
    description: "Minimum interval between fetches of a provider's keys for an unknown key id, in milliseconds",
  }),
})
export type OidcConfig = s.Static<typeof config>
/** One provider, with its name. */
export type ProviderConfig = s.Static<typeof provider> & { readonly name: string }
export const Config = configPort(config)
