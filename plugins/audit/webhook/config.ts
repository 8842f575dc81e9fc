import { configPort, s } from 'pounce/sdk'

export const config = s.Object({
  url: s.Optional(s.String({ minLength: 8, description: 'URL that entries are posted to; may be in a private network. Required' })),
  secret: s.Optional(
    s.String({
      minLength: 1,
      secret: true,
      description: 'Signing secret: `whsec_` and 24 to 64 bytes in base64 (Standard Webhooks). Required',
    }),
  ),
  timeoutMs: s.Integer({ default: 10_000, minimum: 100, description: 'Response timeout, in milliseconds' }),
})
export type WebhookConfig = s.Static<typeof config>
export const Config = configPort(config)
