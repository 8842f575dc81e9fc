import { s } from 'pounce/sdk'

export const config = s.Object({
  keptDays: s.Integer({ default: 400, minimum: 1, maximum: 36_500, description: 'Lines of the audit log go after so many days' }),
  addresses: s.Union([s.Literal('whole'), s.Literal('network'), s.Literal('none')], {
    default: 'network',
    description: 'What is kept of the addresses of clients: `network` is the first 24 bits of IPv4 and the first 48 of IPv6',
  }),
  countedMinutes: s.Integer({
    default: 15,
    minimum: 1,
    maximum: 1440,
    description: 'Failed sign-ins to one account from one network are one line, with a count, for so long',
  }),
})
export type Settings = s.Static<typeof config>
