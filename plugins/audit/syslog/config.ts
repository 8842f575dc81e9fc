import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  host: s.Optional(s.String({ minLength: 1, description: 'Host of the syslog server. Required' })),
  port: s.Optional(s.Integer({ minimum: 1, maximum: 65_535, description: 'Default: 6514 with `tls`, 601 with `tcp`' })),
  transport: s.Union([s.Literal('tls'), s.Literal('tcp')], {
    default: 'tls',
    description: '`tls`: RFC 5425, the certificate is verified; `tcp`: RFC 6587, not encrypted',
  }),
  ca: s.Optional(
    s.String({ minLength: 1, description: 'File with the certificates (PEM) that the server’s is verified with. Default: those of Node' }),
  ),
  facility: s.Integer({ default: 13, minimum: 0, maximum: 23, description: 'Facility of the messages; 13 is log audit, 10 is authpriv' }),
  timeoutMs: s.Integer({ default: 10_000, minimum: 100, description: "Timeout for the server's response, in milliseconds" }),
})
export type SyslogConfig = s.Static<typeof config>
export const Config = configPort(config)
