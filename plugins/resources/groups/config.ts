import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  roles: s.Array(
    s.Object({
      provider: s.String({
        pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
        description: '`ldap`, or the name of an OpenID provider',
      }),
      group: s.String({ minLength: 1, maxLength: 1000, description: 'The group as the provider names it, compared exactly' }),
      space: s.String({ pattern: '^[0-9a-f]{24}$', description: 'Id of the space' }),
      role: s.String({ minLength: 1, maxLength: 200, description: 'Name of the role, such as `Editor`' }),
    }),
    {
      default: [],
      description:
        'Which role the members of a group of a directory or an OpenID provider have in a space. Looked at when the server starts; who is in a group, at each sign-in',
    },
  ),
})
export const Config = configPort(config)
export type GroupSettings = s.Static<typeof config>
