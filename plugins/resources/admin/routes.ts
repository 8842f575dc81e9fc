import { Forbidden, Invalid, NotSignedIn, routesFor, Site, s, TooMany, Users } from 'pounce/sdk'
import { optionalOrNull } from 'pounce/sdk/kit'
import { AdminMail } from './admin-mail.ts'
import { acceptOwnTerms } from './stored-site.ts'

const route = routesFor('admin', { site: Site, adminMail: AdminMail, users: Users })

const title = () => s.String({ maxLength: 200 })
const appearance = {
  theme: s.String({ maxLength: 100 }),
  displayName: title(),
  welcomeMessage: s.prose(20_000),
  googleAnalytics: s.String({ maxLength: 1000 }),
}
const sensors = { sensors: title(), sensor: title(), parameters: title(), parameter: title() }

const Shown = s.model(
  'SiteSettings',
  s.Object({
    ...appearance,
    amplitudeApikey: s.String(),
    ...sensors,
    tosText: s.String(),
    tosHtml: s.Boolean(),
    tosChanged: s.Union([s.String(), s.Null()], { description: 'Date since which the terms apply' }),
  }),
)

export const getConfiguration = route({
  method: 'GET',
  path: '/api/admin/configuration',
  aliases: [{ path: '/api/configuration' }],
  summary: "Get the site's name, theme, welcome text and terms",
  description: 'Public, because every page shows it, including the sign-in page.',
  permission: 'anyone',
  beforeTerms: true,
  responses: { 200: Shown },
  async handle(_request, { site }) {
    return { status: 200, body: await site.settings() }
  },
})

export const setConfiguration = route({
  method: 'POST',
  path: '/api/admin/configuration',
  summary: 'Update site settings',
  description:
    'Absent members, and null, stay unchanged, except `tosHtml`: absent means false, as in Clowder 1.x. An unknown theme is rejected. Changed terms must be accepted again by everyone but the caller.',
  permission: 'serverAdmin',
  body: s.model(
    'SiteSettingsChange',
    s.Object({
      theme: optionalOrNull(appearance.theme),
      displayName: optionalOrNull(appearance.displayName),
      welcomeMessage: optionalOrNull(appearance.welcomeMessage),
      googleAnalytics: optionalOrNull(appearance.googleAnalytics),
      amplitudeApikey: optionalOrNull(s.String({ maxLength: 1000 })),
      sensors: optionalOrNull(sensors.sensors),
      sensor: optionalOrNull(sensors.sensor),
      parameters: optionalOrNull(sensors.parameters),
      parameter: optionalOrNull(sensors.parameter),
      tosText: optionalOrNull(s.prose(500_000)),
      tosHtml: optionalOrNull(s.Boolean()),
    }),
  ),
  responses: { 200: s.success() },
  throws: [Invalid],
  async handle({ body, caller }, { site, users }) {
    const given = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)) as Parameters<Site['change']>[0]
    const { tosChanged } = await site.change({ ...given, tosHtml: body.tosHtml ?? false }, caller.user?.id)
    if (given.tosText !== undefined && caller.user) await acceptOwnTerms(users, caller.user.id, tosChanged)
    return { status: 200, body: { status: 'success' } }
  },
})

export const changeAppearance = route({
  method: 'POST',
  path: '/api/changeAppearance',
  summary: "Update the site's name, theme and welcome text",
  permission: 'serverAdmin',
  body: s.model('Appearance', s.Object(appearance)),
  responses: { 200: s.success() },
  throws: [Invalid],
  async handle({ body, caller }, { site }) {
    await site.change(body, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const getSensorTitles = route({
  method: 'GET',
  path: '/api/sensors/config',
  summary: 'Get the labels of sensors and parameters',
  permission: 'anyone',
  responses: { 200: s.model('SensorTitles', s.Object(sensors)) },
  async handle(_request, { site }) {
    const { sensors, sensor, parameters, parameter } = await site.settings()
    return { status: 200, body: { sensors, sensor, parameters, parameter } }
  },
})

export const setSensorTitles = route({
  method: 'POST',
  path: '/api/sensors/config',
  summary: 'Set the labels of sensors and parameters',
  permission: 'serverAdmin',
  body: s.model('SensorTitles', s.Object(sensors)),
  responses: { 200: s.success() },
  throws: [Invalid],
  async handle({ body, caller }, { site }) {
    await site.change(body, caller.user?.id)
    return { status: 200, body: { status: 'success' } }
  },
})

export const writeToAdmins = route({
  method: 'POST',
  path: '/api/admin/mail',
  summary: 'Send an email to the server admins',
  description: 'Requires an account, and is limited per hour (`lettersPerHour`); in Clowder 1.x anyone could send any number.',
  permission: 'signedIn',
  body: s.Object({
    subject: optionalOrNull(s.String({ maxLength: 200, pattern: '^[^\\p{Cc}\\u2028\\u2029]*$' })),
    body: optionalOrNull(s.prose(20_000)),
  }),
  responses: { 200: s.success() },
  throws: [Forbidden, NotSignedIn, TooMany],
  async handle({ body, caller }, { adminMail }) {
    const { user, scope } = caller
    if (!user || scope === 'extraction') throw new Forbidden('Only user accounts can send messages to the admins')
    await adminMail.write(user.id, body.subject || 'A message to the admins', body.body ?? '')
    return { status: 200, body: { status: 'success' } }
  },
})
