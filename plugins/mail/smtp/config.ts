import { configPort, s } from 'pounce/sdk'
import { capabilitiesBy } from 'pounce/sdk/kit'

export const config = s.Object({
  host: s.Optional(s.String({ minLength: 1, description: 'Host of the mail server. Required' })),
  port: s.Optional(s.Integer({ minimum: 1, maximum: 65_535, description: 'Port. Default: 465 with `tls`, else 587' })),
  security: s.Union([s.Literal('starttls'), s.Literal('tls'), s.Literal('none')], {
    default: 'starttls',
    description:
      '`starttls`: encryption is required before anything else is sent; `tls`: encrypted from the start; `none`: for a server on this machine',
  }),
  user: s.Optional(s.String({ minLength: 1, description: 'User name for `password`. Default: no authentication' })),
  password: s.Optional(s.String({ minLength: 1, secret: true, description: 'Password of `user`' })),
  from: s.Optional(s.String({ minLength: 3, maxLength: 254, description: 'Sender address. Required' })),
  fromName: s.String({ default: 'Pounce', maxLength: 100, description: 'Sender name' }),
  timeoutMs: s.Integer({ default: 10_000, minimum: 100, description: "Timeout for the server's response, in milliseconds" }),
})
export type SmtpConfig = s.Static<typeof config>
export const Config = configPort(config)

export const MailCapability = capabilitiesBy(Config, () => ({ mail: true }))
