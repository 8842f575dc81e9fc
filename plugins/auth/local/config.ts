import { configPort, s } from 'pounce/sdk'
import { capabilitiesBy } from 'pounce/sdk/kit'

/** Target of emailed links without a web interface. */
export const signUpPath = '/api/signup/finish'
export const resetPath = '/api/password/reset/finish'

const page = (otherwise: string) =>
  s.Optional(
    s.String({
      pattern: '^/[^\\s?#]*$',
      description: `Path of the web page that emailed links lead to, with \`?token=\`, relative to the base URL. Default: the page of the web interface; without one \`${otherwise}\``,
    }),
  )

export const config = s.Object({
  signUp: s.Boolean({ default: true, description: 'Allow sign-up by an emailed link' }),
  registerThroughAdmins: s.Boolean({
    default: true,
    description: 'New accounts need approval by a server admin',
  }),
  linkHours: s.Integer({
    default: 24,
    minimum: 1,
    maximum: 720,
    description: 'Lifetime of an emailed link, in hours; it works once',
  }),
  linksPerAddress: s.Integer({
    default: 5,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of links requested per email address in 15 minutes',
  }),
  linksPerNetwork: s.Integer({
    default: 30,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of links requested, and of wrong links tried, per network in 15 minutes',
  }),
  signUpPage: page(signUpPath),
  resetPage: page(resetPath),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>

export const SignUpCapability = capabilitiesBy(configPort(config), ({ signUp, registerThroughAdmins }) => ({
  signUp: !signUp ? 'off' : registerThroughAdmins ? 'approval' : 'open',
}))
