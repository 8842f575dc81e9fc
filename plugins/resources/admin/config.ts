import { s } from 'pounce/sdk'

export const config = s.Object({
  themes: s.Array(s.line(100), {
    default: ['simplex.min.css', 'bootstrap.min.css'],
    minItems: 1,
    description: 'Names of the themes to choose from; the first is that of a new installation',
  }),
  displayName: s.String({ default: 'Pounce', maxLength: 200, description: 'What a new installation is called' }),
  lettersPerHour: s.Integer({ default: 5, minimum: 1, maximum: 1000, description: 'How often one account may write to the server admins' }),
})
export type Settings = s.Static<typeof config>
