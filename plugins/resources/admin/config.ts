import { s } from 'pounce/sdk'

export const config = s.Object({
  themes: s.Array(s.line(100), {
    default: ['simplex.min.css', 'bootstrap.min.css'],
    minItems: 1,
    description: 'Themes to choose from; the first is the default',
  }),
  displayName: s.String({ default: 'Pounce', maxLength: 200, description: 'Display name of a new installation' }),
  lettersPerHour: s.Integer({
    default: 5,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of messages to the server admins per account and hour',
  }),
})
export type Settings = s.Static<typeof config>
