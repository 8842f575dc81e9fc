import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  url: s.Optional(s.String({ pattern: '^ldaps?://[^/?#@]+$', description: 'The directory, such as `ldaps://ldap.example.org`. Needed' })),
  startTls: s.Boolean({ default: true, description: 'With `ldap://`: the connection must become encrypted before a password is said' }),
  caFile: s.Optional(s.String({ minLength: 1, description: 'Certificates (PEM) of the authority that vouches for the directory' })),
  bindDn: s.Optional(s.String({ minLength: 1, description: 'Who looks people up. Default: anybody may' })),
  bindPassword: s.Optional(s.String({ minLength: 1, secret: true, description: 'Belongs to `bindDn`' })),
  baseDn: s.Optional(s.String({ minLength: 1, description: 'Where people are looked for, such as `ou=people,dc=example,dc=org`. Needed' })),
  userFilter: s.String({
    default: '(mail={login})',
    pattern: '^\\(.*\\{login\\}.*\\)$',
    description: 'Finds the one entry of who signs in; `{login}` stands for what was typed',
  }),
  label: s.String({ default: 'Directory', minLength: 1, maxLength: 100, description: 'What people read who choose where to sign in' }),
  idAttribute: s.Optional(
    s.String({
      minLength: 1,
      description:
        'Attribute that names a person for good, such as `entryUUID` or `objectGUID`. Default: the name of the entry (DN), which changes when it is moved',
    }),
  ),
  emailAttribute: s.String({ default: 'mail', minLength: 1, description: 'Attribute that holds the e-mail address' }),
  firstNameAttribute: s.String({ default: 'givenName', minLength: 1, description: 'Attribute that holds the first name' }),
  lastNameAttribute: s.String({ default: 'sn', minLength: 1, description: 'Attribute that holds the last name' }),
  groupAttribute: s.String({ default: 'memberOf', minLength: 1, description: 'Attribute of a person that lists their groups' }),
  groupBaseDn: s.Optional(
    s.String({ minLength: 1, description: 'Where groups are looked for that list their members, in a directory without `groupAttribute`' }),
  ),
  groupFilter: s.String({
    default: '(member={dn})',
    pattern: '^\\(.*\\{dn\\}.*\\)$',
    description: 'Finds the groups of a person below `groupBaseDn`; `{dn}` stands for the name of their entry',
  }),
  onlyGroups: s.Array(s.String({ minLength: 1 }), {
    default: [],
    description: 'Names (DN) of groups: only their members may sign in. Default: everybody who is found',
  }),
  trustsEmail: s.Boolean({
    default: false,
    description: 'The e-mail addresses of the directory were checked: a person opens the account that has theirs already, of whatever kind',
  }),
  timeoutMs: s.Integer({ default: 5000, minimum: 100, description: 'How long the directory may take for one answer' }),
})
export type LdapConfig = s.Static<typeof config>
export const Config = configPort(config)
