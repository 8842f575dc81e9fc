import { s } from 'pounce/sdk'
import { httpConfig } from '../http/config.ts'

const { metrics: _served, ...httpMembers } = httpConfig.properties

/** A plugin to load: its id, a package name or a folder; `as` gives a second copy a name of its own. */
export const PluginEntry = s.Union([
  s.String({ minLength: 1 }),
  s.Object({ plugin: s.String({ minLength: 1 }), as: s.String({ pattern: '^[a-z0-9-]+(\\.[a-z0-9-]+)+$' }) }),
])
export type PluginEntry = s.Static<typeof PluginEntry>

/** Settings of the kernel itself, at the top of the configuration. */
export const kernelSchema = s.Object({
  plugins: s.Array(PluginEntry, {
    default: [],
    description: 'Plugins to load, in order; a list whose entries begin with `+` or `-` changes the list below it',
  }),
  use: s.Array(s.String({ minLength: 1 }), {
    default: [],
    description:
      'Plugins that run besides `plugins`; each takes the place of a listed one that provides the same, such as the store of records',
  }),
  data: s.String({ default: 'data', minLength: 1, description: 'Folder for what this machine keeps' }),
  http: s.Object(
    {
      ...httpMembers,
      baseUrl: s.Optional(
        s.String({
          pattern: '^https?://[^/?#]+[^?#]*$',
          description: 'Address under which people reach the server; links are made from it',
        }),
      ),
    },
    { default: {}, description: 'The HTTP server' },
  ),
  access: s.Object(
    { private: s.Boolean({ default: false, description: 'Only signed-in people may read' }) },
    { default: {}, description: 'Who may come in' },
  ),
  log: s.Object(
    {
      level: s.Union(
        ['debug', 'info', 'warn', 'error', 'silent'].map(level => s.Literal(level)),
        { default: 'info', description: 'The least important lines that are written: debug, info, warn, error or silent' },
      ),
    },
    { default: {}, description: 'The log, on standard output' },
  ),
  metrics: s.Object(
    { enabled: s.Boolean({ default: false, description: 'Measure, and serve the measurements at `/metrics`' }) },
    { default: {}, description: 'Prometheus measurements' },
  ),
  roles: s.Array(s.Union([s.Literal('http'), s.Literal('worker')]), {
    default: ['http', 'worker'],
    uniqueItems: true,
    minItems: 1,
    description: '`http` answers requests; `worker` deals with events and periodic work',
  }),
  admin: s.Object(
    {
      email: s.Optional(s.String({ minLength: 3, description: 'E-mail of the first server admin' })),
      password: s.Optional(s.String({ minLength: 8, secret: true, description: 'Password of the first server admin' })),
    },
    { default: {}, description: 'Account made at the first start' },
  ),
  admins: s.Array(s.String({ minLength: 3 }), { default: [], description: 'E-mails of accounts that are server admins' }),
  outbound: s.Object(
    {
      allow: s.Array(s.String(), {
        default: [],
        description: 'Hosts (`files.example.org`) and networks (`10.1.0.0/16`) that may be fetched although they are not public',
      }),
    },
    { default: {}, description: 'Fetching from other servers' },
  ),
  dbupdate: s.Boolean({ default: false, description: 'Apply pending migrations at the start' }),
})

/** Checked settings of the kernel. `data` is an absolute path. */
export type KernelConfig = s.Static<typeof kernelSchema>
