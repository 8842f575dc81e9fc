import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  host: s.Optional(s.String({ minLength: 1, description: 'The mail server that takes our messages. Needed' })),
  port: s.Optional(s.Integer({ minimum: 1, maximum: 65_535, description: 'Default: 465 with `tls`, else 587' })),
  security: s.Union([s.Literal('starttls'), s.Literal('tls'), s.Literal('none')], {
    default: 'starttls',
    description:
      '`starttls`: the connection must become encrypted before anything is said; `tls`: it is from the start; `none`: for a server on this machine',
  }),
  user: s.Optional(s.String({ minLength: 1, description: 'Belongs to `password`. Default: the server asks for none' })),
  password: s.Optional(s.String({ minLength: 1, secret: true, description: 'Belongs to `user`' })),
  from: s.Optional(s.String({ minLength: 3, maxLength: 254, description: 'The address that mails come from. Needed' })),
  fromName: s.String({ default: 'Pounce', maxLength: 100, description: 'The name beside that address' }),
  timeoutMs: s.Integer({ default: 10_000, minimum: 100, description: 'How long the server may stay silent' }),
})
export type SmtpConfig = s.Static<typeof config>
export const Config = configPort(config)
