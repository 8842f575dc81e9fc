import { s } from 'pounce/sdk'
import { httpConfig } from '../../http/config.ts'

const { metrics: _served, ...httpMembers } = httpConfig.properties

/** A plugin to load: its id, a package name or a folder; `as` names a second copy of it. */
export const PluginEntry = s.Union([
  s.String({ minLength: 1 }),
  s.Object({ plugin: s.String({ minLength: 1 }), as: s.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' }) }),
])
export type PluginEntry = s.Static<typeof PluginEntry>

/** Settings of the kernel itself, at the top level of the configuration. */
export const kernelSchema = s.Object({
  plugins: s.Array(PluginEntry, {
    default: [],
    description: 'Plugins to load, in order. A list whose entries begin with `+` or `-` modifies the list of the configuration below it',
  }),
  replacePlugins: s.Array(s.String({ minLength: 1 }), {
    default: [],
    formerName: 'use',
    description:
      'Plugins to load in addition to `plugins`; each replaces the listed plugin that provides the same port, such as the document store',
  }),
  basePlugins: s.Array(s.String({ minLength: 1 }), {
    default: [],
    description: 'Plugins that run besides `plugins`, unless a listed one provides the same; `-` in `plugins` does not remove them',
  }),
  data: s.String({ default: 'data', minLength: 1, description: 'Data folder of this machine' }),
  http: s.Object(
    {
      ...httpMembers,
      baseUrl: s.Optional(
        s.String({
          pattern: '^https?://[^/?#][^?#]*$',
          description: 'Public base URL of the server, used in links. A path in it is served as well',
        }),
      ),
    },
    { default: {}, description: 'HTTP server' },
  ),
  access: s.Object(
    {
      private: s.Optional(
        s.Boolean({ description: 'Require sign-in for all reads. Default: what an admin chose at the first start or later' }),
      ),
    },
    { default: {}, description: 'Access to the server' },
  ),
  log: s.Object(
    {
      level: s.Union(
        ['debug', 'info', 'warn', 'error', 'silent'].map(level => s.Literal(level)),
        { default: 'info', description: 'Minimum log level: debug, info, warn, error or silent' },
      ),
    },
    { default: {}, description: 'Log, written to standard output' },
  ),
  metrics: s.Object(
    {
      enabled: s.Boolean({ default: false, description: 'Collect metrics and serve them at `/metrics`' }),
      token: s.Optional(
        s.String({
          minLength: 16,
          secret: true,
          description: 'Bearer token of the scraper of `/metrics`. Default: only server admins can read metrics',
        }),
      ),
    },
    { default: {}, description: 'Prometheus metrics' },
  ),
  roles: s.Array(s.Union([s.Literal('http'), s.Literal('worker')]), {
    default: ['http', 'worker'],
    uniqueItems: true,
    minItems: 1,
    description: 'Roles of this process: `http` serves requests; `worker` handles events and runs periodic tasks',
  }),
  admin: s.Object(
    {
      email: s.Optional(s.String({ format: 'email', description: 'Email of the first server admin' })),
      password: s.Optional(s.String({ minLength: 8, secret: true, description: 'Password of the first server admin' })),
    },
    { default: {}, description: 'Admin account created at the first start' },
  ),
  admins: s.Array(s.String({ format: 'email' }), { default: [], description: 'Emails of the accounts that are server admins' }),
  startTimeoutMs: s.Integer({
    default: 60_000,
    minimum: 1,
    maximum: 2_147_483_647,
    description: 'Maximum start time of each plugin, in milliseconds. A plugin that takes more than 10 s is logged',
  }),
  dbupdate: s.Boolean({ default: false, description: 'Apply pending migrations at startup' }),
})

/** Validated settings of the kernel. `data` is an absolute path. */
export type KernelConfig = s.Static<typeof kernelSchema>
