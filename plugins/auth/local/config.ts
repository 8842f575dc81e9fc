import { s } from 'pounce/sdk'

const page = (preset: string) =>
  s.String({
    default: preset,
    pattern: '^/[^\\s?#]*$',
    description: 'Path below the base URL to which its mail leads, with `?token=`; a page of a web interface, or the door of the API',
  })

export const config = s.Object({
  signUp: s.Boolean({ default: true, description: 'People may make an account by a link that is sent to their e-mail address' }),
  registerThroughAdmins: s.Boolean({
    default: true,
    description: 'An account that somebody signs up for waits until a server admin activates it',
  }),
  linkHours: s.Integer({
    default: 24,
    minimum: 1,
    maximum: 720,
    description: 'For so long a link that was sent by mail can be used, once',
  }),
  linksPerAddress: s.Integer({
    default: 5,
    minimum: 1,
    maximum: 1000,
    description: 'How often in 15 minutes a link may be asked for with one e-mail address',
  }),
  linksPerNetwork: s.Integer({
    default: 30,
    minimum: 1,
    maximum: 100_000,
    description: 'How often in 15 minutes links may be asked for, and wrong ones tried, from one network',
  }),
  signUpPage: page('/api/signup/finish'),
  resetPage: page('/api/password/reset/finish'),
})

/** Checked settings of this plugin. */
export type Settings = s.Static<typeof config>
