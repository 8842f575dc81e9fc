import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  url: s.Optional(
    s.String({ pattern: '^ldaps?://[^/?#@]+$', description: 'URL of the directory, such as `ldaps://ldap.example.org`. Required' }),
  ),
  startTls: s.Boolean({ default: true, description: 'With `ldap://`: require StartTLS before authentication' }),
  caFile: s.Optional(s.String({ minLength: 1, description: "CA certificates (PEM) to verify the directory's certificate" })),
  bindDn: s.Optional(s.String({ minLength: 1, description: 'DN to bind with for searches. Default: anonymous bind' })),
  bindPassword: s.Optional(s.String({ minLength: 1, secret: true, description: 'Password of `bindDn`' })),
  baseDn: s.Optional(s.String({ minLength: 1, description: 'Base DN of people, such as `ou=people,dc=example,dc=org`. Required' })),
  userFilter: s.String({
    default: '(mail={login})',
    pattern: '^\\((?=.*\\{login\\}).*\\)$',
    description: 'LDAP filter for the entry of a person; `{login}` is replaced by the login name',
  }),
  label: s.String({ default: 'Directory', minLength: 1, maxLength: 100, description: 'Label on the sign-in page' }),
  idAttribute: s.Optional(
    s.String({
      minLength: 1,
      description:
        'Attribute with a permanent id of a person, such as `entryUUID` or `objectGUID`. Default: the DN, which changes when the entry is moved',
    }),
  ),
  emailAttribute: s.String({ default: 'mail', minLength: 1, description: 'Attribute with the email address' }),
  firstNameAttribute: s.String({ default: 'givenName', minLength: 1, description: 'Attribute with the first name' }),
  lastNameAttribute: s.String({ default: 'sn', minLength: 1, description: 'Attribute with the last name' }),
  groupAttribute: s.String({ default: 'memberOf', minLength: 1, description: 'Attribute of a person that lists their groups' }),
  groupBaseDn: s.Optional(
    s.String({ minLength: 1, description: 'Base DN of groups that list their members, for a directory without `groupAttribute`' }),
  ),
  groupFilter: s.String({
    default: '(member={dn})',
    pattern: '^\\((?=.*\\{dn\\}).*\\)$',
    description: "LDAP filter for the groups of a person below `groupBaseDn`; `{dn}` is replaced by the person's DN",
  }),
  onlyGroups: s.Array(s.String({ minLength: 1 }), {
    default: [],
    description: 'DNs of groups whose members may sign in. Default: everyone found',
  }),
  trustsEmail: s.Boolean({
    default: false,
    description:
      'Email addresses of the directory are verified: signing in opens an existing account with the same address, of any provider',
  }),
  timeoutMs: s.Integer({ default: 5000, minimum: 100, description: 'Response timeout of the directory, in milliseconds' }),
})
export type LdapConfig = s.Static<typeof config>
export const Config = configPort(config)
