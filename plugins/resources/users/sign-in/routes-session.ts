import { Invalid, NotSignedIn, routesFor, signedIn } from 'pounce/sdk'
import { ClientPreferences, maxPreferenceBytes, PreferencesJson } from '../accounts/preferences.ts'
import { SessionState, SessionView } from '../accounts/session-view.ts'

const route = routesFor('users', { view: SessionView, preferences: ClientPreferences })

export const getSession = route({
  method: 'GET',
  path: '/api/session',
  summary: 'Get the signed-in user and the features of this server',
  description:
    'An addition to Clowder 1.x, for clients at startup. `user` is null for anonymous callers, including those with an expired session. Does not affect the session.',
  permission: 'anyone',
  beforeTerms: true,
  responses: { 200: SessionState },
  async handle({ caller }, { view }) {
    return { status: 200, body: await view.of(caller) }
  },
})

export const setPreferences = route({
  method: 'PUT',
  path: '/api/me/preferences',
  summary: 'Set my preferences for clients',
  description: `An addition to Clowder 1.x. Replaces all preferences; \`GET /api/session\` returns them. A JSON object of at most ${maxPreferenceBytes} bytes, at most three objects deep.`,
  permission: 'signedIn',
  limitedKeys: 'refused',
  maxBodyBytes: maxPreferenceBytes,
  body: PreferencesJson,
  responses: { 200: PreferencesJson },
  throws: [Invalid, NotSignedIn],
  async handle({ body, caller }, { preferences }) {
    return { status: 200, body: await preferences.replace(signedIn(caller).id, body) }
  },
})
