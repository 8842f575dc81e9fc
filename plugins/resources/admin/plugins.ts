import { Conflict, NotFound, routesFor, s } from 'pounce/sdk'
import { type PluginState, PluginSwitch } from 'pounce/sdk/kit'

const route = routesFor('admin', { plugins: PluginSwitch })

const Plugin = s.model(
  'Plugin',
  s.Object({
    id: s.String(),
    summary: s.String(),
    version: s.Optional(s.String()),
    source: s.String({ description: '`built-in`, a package or a folder' }),
    switchable: s.Boolean({ description: 'Can be switched without a restart' }),
    refusal: s.Optional(s.String({ description: 'Why it cannot be switched' })),
    enabled: s.Boolean(),
    state: s.Union([s.Literal('on'), s.Literal('off')]),
    restartRequired: s.Boolean({ description: '`enabled` takes effect after a restart' }),
    healthy: s.Boolean(),
    message: s.Optional(s.String()),
    waitingEvents: s.Integer({ description: 'Number of events stored for it while it is off' }),
  }),
)

const shown = ({ isSwitchable, isEnabled, isRunning, isHealthy, ...rest }: PluginState): s.Static<typeof Plugin> => ({
  ...rest,
  switchable: isSwitchable,
  enabled: isEnabled,
  state: isRunning ? 'on' : 'off',
  restartRequired: isEnabled !== isRunning,
  healthy: isHealthy,
})

export const getPlugins = route({
  method: 'GET',
  path: '/api/admin/plugins',
  summary: 'List plugins',
  permission: 'serverAdmin',
  responses: { 200: s.Array(Plugin) },
  async handle(_request, { plugins }) {
    return { status: 200, body: (await plugins.list()).map(shown) }
  },
})

export const setPlugin = route({
  method: 'PUT',
  path: '/api/admin/plugins/:id',
  summary: 'Enable or disable a plugin',
  description:
    'Takes effect immediately if the plugin is `switchable`, otherwise after a restart. 409 for a plugin that others depend on or that is not configured.',
  permission: 'serverAdmin',
  params: s.Object({ id: s.String({ maxLength: 200 }) }),
  body: s.Object({ enabled: s.Boolean() }),
  responses: { 200: Plugin },
  throws: [NotFound, Conflict],
  async handle({ params, body, caller }, { plugins }) {
    return { status: 200, body: shown(await plugins.set(params.id, body.enabled, caller.user?.id)) }
  },
})
