import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  roles: s.Array(
    s.Object({
      provider: s.String({
        pattern: '^[a-z0-9][a-z0-9-]{0,63}$',
        description: '`ldap`, or the name of an OpenID provider',
      }),
      group: s.String({ minLength: 1, maxLength: 1000, description: 'Name of the group at the provider, compared exactly' }),
      space: s.String({ pattern: '^[0-9a-f]{24}$', description: 'Id of the space' }),
      role: s.String({ minLength: 1, maxLength: 200, description: 'Name of the role, such as `Editor`' }),
    }),
    {
      default: [],
      description:
        'Roles of directory or OpenID groups in spaces. The setting is read at startup; group membership is read at each sign-in',
    },
  ),
})
export const Config = configPort(config)
export type GroupSettings = s.Static<typeof config>
